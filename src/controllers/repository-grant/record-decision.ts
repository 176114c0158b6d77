// Puts a decision into the audit log, once: the log has it before the status does, so a process that died in between, or whose write was
// refused, comes to the same decision again. It decides nothing.
import type { AuditRecord } from '../../api/audit-event.ts'
import { sameJson } from '../../lib/same-json.ts'
import type { AuditLog } from '../../store/audit-log.ts'

export type DecisionLog = Pick<AuditLog, 'append' | 'list'>

/** So far back an earlier record of the same decision is looked for: it is seconds old, or as old as an outage. */
const latestEntries = 200

/** The same decision for the same reason, about the same grant. Names of repositories may have changed meanwhile, so they do not count. */
function outlineOf({ action, object, outcome, details }: AuditRecord): readonly unknown[] {
  return [action, object, outcome, details['grantUid'], details['decision'], details['rule'], details['check']]
}

/** Nothing is appended when the latest decision about this grant says the same. Rejects when the log cannot be read or written. */
export async function recordDecision(audit: DecisionLog, record: AuditRecord): Promise<void> {
  const { action, namespace, details } = record
  const latest = await audit.list({ ...(namespace === undefined ? {} : { namespace }), limit: latestEntries })
  const last = latest.find(entry => entry.action === action && entry.details['grantUid'] === details['grantUid'])
  if (last === undefined || !sameJson(outlineOf(last), outlineOf(record))) await audit.append(record)
}
