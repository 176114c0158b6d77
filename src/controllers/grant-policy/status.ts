// The condition of a policy: whether it is in effect. Pure. What it decides is in the status of each RepositoryGrant.
import { type ClusterGrantPolicy, type GrantPolicy, grantPolicyReasons as reasons } from '../../api/github/grant-policy.ts'
import type { WantedCondition } from '../../kube/object/conditions.ts'

/** `isOfTenant`: a tenant works in its namespace, or it is for all of them. */
export function readyOf({ spec }: GrantPolicy | ClusterGrantPolicy, isOfTenant: boolean): WantedCondition {
  const type = 'Ready'
  if (!isOfTenant) {
    const message = 'no Tenant works in this namespace: write the policy in spec.namespace of a Tenant'
    return { type, status: 'False', reason: reasons.noTenant, message }
  }
  const rules = `${spec.rules.length} ${spec.rules.length === 1 ? 'rule' : 'rules'}`
  if (spec.mode === 'Audit') {
    const message = `${rules} in mode Audit: status.audit of RepositoryGrants says what they would change`
    return { type, status: 'True', reason: reasons.audited, message }
  }
  return { type, status: 'True', reason: reasons.enforced, message: `${rules} decide about RepositoryGrants` }
}
