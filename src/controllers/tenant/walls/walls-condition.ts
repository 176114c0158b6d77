// The condition by which a Tenant says whether the walls around it hold. Pure.
import { namespacesOf } from '../../../api/names.ts'
import { tenantReasons as reasons, type Tenant, tenantConditions } from '../../../api/tenancy/tenant.ts'
import { findCondition, type WantedCondition } from '../../../kube/object/conditions.ts'
import { findingsFor, findingText } from '../../../services/wall-probe/finding.ts'
import { isLookedAt } from '../../../services/wall-probe/namespaces.ts'
import type { WallRecord } from '../../../services/wall-probe/record.ts'

const maxShown = 3

/** Not part of Ready: workloads go on, but must not appear safe. What is off in namespaces of others is not said. */
export function wallsCondition(tenant: Tenant, record: WallRecord | undefined): WantedCondition {
  const type = tenantConditions.wallsHold
  if (record === undefined || !isLookedAt(tenant)) {
    const message = 'the platform has not looked at its walls yet'
    return { type, status: 'Unknown', reason: reasons.wallsNotProbed, message }
  }
  const ours = findingsFor(record.findings, namespacesOf(tenant.spec.namespace))
  const off = ours.filter(({ verdict }) => verdict === 'Off')
  const text = (findings: typeof ours): string =>
    [
      ...findings.slice(0, maxShown).map(findingText),
      ...(findings.length > maxShown ? [`and ${findings.length - maxShown} more`] : []),
    ].join('; ')
  if (off.length > 0) return { type, status: 'False', reason: reasons.wallOff, message: text(off) }
  if (ours.length > 0) return { type, status: 'Unknown', reason: reasons.wallsNotProbed, message: text(ours) }
  if (record.more > 0) {
    const message = `so many walls are off that ${record.more} findings have no place in the record of them`
    return { type, status: 'Unknown', reason: reasons.wallsNotProbed, message }
  }
  return { type, status: 'True', reason: reasons.wallsHold, message: 'all walls were found in place' }
}

/** Whether the Tenant says something else about the walls than the record: a change of it does not concern the others. */
export function saysOtherwise(tenant: Tenant, record: WallRecord | undefined): boolean {
  const wanted = wallsCondition(tenant, record)
  const said = findCondition(tenant.status?.conditions, wanted.type)
  return said?.status !== wanted.status || said.reason !== wanted.reason || said.message !== wanted.message
}
