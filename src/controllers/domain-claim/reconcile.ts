// Keeps DomainClaims true: deletes unused ones, ties approved claims to their Tenant, reports. The Application controller
// creates claims (src/controllers/application/domains); this is the only place that deletes them.
import { type DomainClaim, domainClaim } from '../../api/tenancy/domain-claim.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isGone } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext } from '../../kube/controller/controller.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import { ownerReference, uidOf } from '../../kube/object/owner.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { decide } from './decide.ts'
import { type DomainClaimCaches, gather } from './gather.ts'

export type DomainClaimDeps = DomainClaimCaches & {
  readonly claims: Pick<Cache<DomainClaim>, 'get'>
  readonly client: Pick<KubeClient, 'apply' | 'delete'>
  readonly status: StatusWriter<DomainClaim>
  readonly clock: Clock
}

/** The field manager of owners and status. */
export const fieldManager = 'sekisho.dev/domain-claim'

/** The garbage collector then deletes the claim with its Tenant. The admin who approved it need not set the owner. */
async function tieToTenant({ client }: DomainClaimDeps, claim: DomainClaim, tenant: Tenant): Promise<void> {
  const reference = ownerReference(tenant, { controller: false })
  if (claim.metadata.ownerReferences?.some(({ uid }) => uid === reference.uid)) return
  const { apiVersion, kind } = domainClaim
  const metadata = { name: claim.metadata.name, uid: uidOf(claim), ownerReferences: [reference] }
  try {
    await client.apply(domainClaim, { apiVersion, kind, metadata }, { fieldManager, force: true })
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

/** Idempotent; leaves a claim that is being deleted alone. */
export async function reconcileDomainClaim(deps: DomainClaimDeps, { key }: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const cached = deps.claims.get(key)
  if (!cached || cached.metadata.deletionTimestamp !== undefined) return done
  const claim = deps.status.latest(cached)
  const facts = gather(deps, claim)
  const decision = decide(facts)
  if (decision.kind === 'release') {
    await deps.client.delete(domainClaim, key, { uid: uidOf(claim) })
    return done
  }
  if (facts.tenant) await tieToTenant(deps, claim, facts.tenant)
  const generation = claim.metadata.generation ?? 1
  const conditions = mergeConditions(claim.status?.conditions, [decision.ready], generation, deps.clock.now())
  await deps.status.write(claim, { observedGeneration: generation, conditions })
  return done
}
