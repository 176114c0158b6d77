// Records a decision in the audit log, once. The log has it before the status does: after a crash in between, or a refused
// write of the status, the controller decides the same again and must not record it twice. Decides nothing.
import type { AuditRecord, TenantAuditRecord } from '../../api/audit/audit-event.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'

export type DecisionLog = Pick<AuditLog, 'appendOnce'>

/**
 * What makes two records the same decision about the same grant. The names of repositories can change in between, so they do
 * not count.
 */
function outlineOf({ object, outcome, details }: AuditRecord): readonly unknown[] {
  return [object, outcome, details['grantUid'], details['decision'], details['rule'], details['check']]
}

/**
 * Appends nothing when the latest record about this grant has the same outline. Rejects when the log cannot be read or written.
 */
export async function recordDecision(audit: DecisionLog, record: TenantAuditRecord): Promise<void> {
  await audit.appendOnce(record, earlier => {
    const latest = earlier.find(({ details }) => details['grantUid'] === record.details['grantUid'])
    return latest !== undefined && sameJson(outlineOf(latest), outlineOf(record))
  })
}
