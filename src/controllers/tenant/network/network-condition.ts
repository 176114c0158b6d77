// The condition by which a Tenant says whether its network policies hold. Pure.
import { tenantReasons as reasons, tenantConditions } from '../../../api/tenancy/tenant.ts'
import type { WantedCondition } from '../../../kube/object/conditions.ts'
import { type Enforcement, isEnforced } from '../../../services/network-probe/enforcement.ts'

/** Not part of Ready: a cluster without enforcement works, but must not appear safe. */
export function networkCondition(enforcement: Enforcement): WantedCondition {
  const type = tenantConditions.networkPoliciesEnforced
  if (isEnforced(enforcement))
    return { type, status: 'True', reason: reasons.policiesEnforced, message: 'network policies are enforced in both directions' }
  const open = Object.entries(enforcement).flatMap(([direction, verdict]) => (verdict === 'NotEnforced' ? [direction] : []))
  if (open.length === 0) {
    const message = 'the probe did not answer yet: see the Deployment sekisho-network-probe in sekisho-system'
    return { type, status: 'Unknown', reason: reasons.policiesNotProbed, message }
  }
  const message = `the cluster does not enforce network policies for ${open.join(' and ')}: pods of all tenants reach each other, the platform and the nodes; use a network plugin that enforces them`
  return { type, status: 'False', reason: reasons.policiesNotEnforced, message }
}
