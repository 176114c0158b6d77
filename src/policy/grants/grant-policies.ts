// The policies that decide about the grants of one namespace, and those that only say what they would change. Pure.
import type { ClusterGrantPolicy, GrantPolicy } from '../../api/github/grant-policy.ts'
import { noPolicies, type PolicySet, policiesDigest } from './decide-policies.ts'
import { policyLayer } from './policy-layer.ts'
import type { Policy } from './policy-row.ts'

/** Compiled for one namespace. */
export type GrantPolicies = {
  /** Those in mode Enforce. */
  readonly enforced: PolicySet
  /** All of them, as if they were enforced; undefined when none is in mode Audit. */
  readonly audited: PolicySet | undefined
  /** Equal as long as the policies say the same; undefined without any. */
  readonly digest: string | undefined
}

/** Nobody wrote a policy. */
export const noGrantPolicies: GrantPolicies = { enforced: noPolicies, audited: undefined, digest: undefined }

/** One index for each place and mode. A policy that is being deleted still holds, until it is gone. */
export function compilePolicies(ofCluster: readonly ClusterGrantPolicy[], ofNamespace: readonly GrantPolicy[]): GrantPolicies {
  if (ofCluster.length === 0 && ofNamespace.length === 0) return noGrantPolicies
  const setOf = (isMeant: (policy: Policy) => boolean): PolicySet => ({
    cluster: policyLayer('ClusterGrantPolicy', ofCluster.filter(isMeant)),
    namespace: policyLayer('GrantPolicy', ofNamespace.filter(isMeant)),
  })
  const all = setOf(() => true)
  const digest = policiesDigest(all)
  const isAudited = ({ spec }: Policy): boolean => spec.mode === 'Audit'
  if (![...ofCluster, ...ofNamespace].some(isAudited)) return { enforced: all, audited: undefined, digest }
  return { enforced: setOf(policy => !isAudited(policy)), audited: all, digest }
}
