// Claims the domains that a tenant has proved. Writes DomainClaims, which are named like their hosts: of two that claim the
// same host at the same time the API server lets one be first, and the other sees whose it is.
import { type DomainClaim, domainClaim } from '../../../api/tenancy/domain-claim.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { ownerReference, uidOf } from '../../../kube/object/owner.ts'
import { soonest } from '../../kit/soonest.ts'
import { fieldManager } from '../field-manager.ts'
import { challengeOf } from './dns-challenge.ts'
import type { DomainProofs } from './domain-proofs.ts'
import { type HostFacts, unclaimedHosts } from './hosts.ts'

export type ClaimDeps = { readonly client: Pick<KubeClient, 'create' | 'get'>; readonly proofs: DomainProofs }

/** The claims that exist now, by host, and when to look again for the rest. */
export type Claimed = Pick<HostFacts, 'claims'> & {
  /** Undefined when every host is claimed. */
  readonly requeueAfterMilliseconds?: number | undefined
  /** True while no answer has come for one of the hosts: nothing can be said about it yet. */
  readonly pending: boolean
}

function claimFor(host: string, owner: Tenant): DomainClaim {
  const { apiVersion, kind } = domainClaim
  const tenant = { name: owner.metadata.name, uid: uidOf(owner) }
  // The garbage collector deletes the claim with its Tenant.
  const ownerReferences = [ownerReference(owner, { controller: false })]
  return { apiVersion, kind, metadata: { name: host, ownerReferences }, spec: { host, tenant, proof: 'DNS' } }
}

/** Resolves to the claim on the host, ours or that of whoever was first; undefined when it vanished in between. */
async function claim({ client }: ClaimDeps, host: string, owner: Tenant): Promise<DomainClaim | undefined> {
  try {
    return await client.create(domainClaim, claimFor(host, owner), { fieldManager })
  } catch (error) {
    if (!isKubeError(error, 409)) throw error
    return client.get(domainClaim, { name: host })
  }
}

/** Claims what is proved by now. Safe to repeat. */
export async function claimDomains(deps: ClaimDeps, facts: HostFacts): Promise<Claimed> {
  const { tenant } = facts
  const claims = new Map(facts.claims)
  if (tenant === undefined) return { claims, pending: false }
  const pauses: number[] = []
  let pending = false
  for (const host of unclaimedHosts(facts)) {
    const state = deps.proofs.stateOf(challengeOf(host, tenant), tenant.metadata.name)
    const found = state.kind === 'proven' ? await claim(deps, host, tenant) : undefined
    if (found) claims.set(host, found)
    else pauses.push(state.requeueAfterMilliseconds)
    pending ||= state.kind === 'pending'
  }
  return { claims, requeueAfterMilliseconds: soonest(...pauses), pending }
}
