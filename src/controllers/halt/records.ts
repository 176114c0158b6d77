// The records of a Halt in the audit log: who halted what and why, and who lifted it. Each once, however often the controller
// decides the same: after a crash between the record and what follows it does so again.
import type { AuditRecord, TenantAuditRecord } from '../../api/audit/audit-event.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { JsonValue } from '../../lib/json/canonical-json.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'

export type HaltLog = Pick<AuditLog, 'appendOnce'>

function recordOf({ metadata, spec }: Halt, step: Pick<AuditRecord, 'action' | 'actor' | 'reason'>): TenantAuditRecord {
  const { namespace = '', name, uid = '' } = metadata
  // Through JSON, so that fields without a value are left out.
  const target = JSON.parse(JSON.stringify(spec.target)) as JsonValue
  const details = { uid, target, workloads: spec.workloads }
  return { ...step, namespace, object: `Halt/${namespace}/${name}`, outcome: 'allowed', details }
}

async function once(audit: HaltLog, record: TenantAuditRecord): Promise<void> {
  await audit.appendOnce(record, earlier => earlier.some(({ details }) => details['uid'] === record.details['uid']))
}

/** Rejects when the log cannot be read or written. */
export function recordBegin(audit: HaltLog, object: Halt): Promise<void> {
  return once(audit, recordOf(object, { action: 'halt.began', actor: object.spec.requestedBy, reason: object.spec.reason }))
}

/** Without `spec.lifted` it ended with its namespace or by a cluster administrator who took the policies away. */
export function recordEnd(audit: HaltLog, object: Halt): Promise<void> {
  const { lifted } = object.spec
  const step = lifted
    ? { actor: lifted.by, reason: lifted.reason }
    : { actor: 'sekisho:halt', reason: 'the object was deleted without being lifted, as with its namespace' }
  return once(audit, recordOf(object, { action: 'halt.lifted', ...step }))
}
