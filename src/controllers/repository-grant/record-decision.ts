// Puts a decision into the audit log, once: the log has it before the status does, so a process that died in between, or whose write was
// refused, comes to the same decision again. It decides nothing.
import type { AuditRecord, TenantAuditRecord } from '../../api/audit-event.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'

export type DecisionLog = Pick<AuditLog, 'appendOnce'>

/** The same decision for the same reason, about the same grant. Names of repositories may have changed meanwhile, so they do not count. */
function outlineOf({ object, outcome, details }: AuditRecord): readonly unknown[] {
  return [object, outcome, details['grantUid'], details['decision'], details['rule'], details['check']]
}

/** Nothing is appended when the latest decision about this grant says the same. Rejects when the log cannot be read or written. */
export async function recordDecision(audit: DecisionLog, record: TenantAuditRecord): Promise<void> {
  await audit.appendOnce(record, earlier => {
    const latest = earlier.find(({ details }) => details['grantUid'] === record.details['grantUid'])
    return latest !== undefined && sameJson(outlineOf(latest), outlineOf(record))
  })
}
