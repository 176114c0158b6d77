// Records that an object of ours has ended, once for each object, before its finalizer goes: while the log cannot be written
// the object stays.
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import type { AuditLog } from './audit-log.ts'

type EndRecord = TenantAuditRecord & { readonly details: { readonly uid: string } }

/** Rejects when the log cannot be written. `details.uid` is the object's: another object of that name is recorded again. */
export async function recordEndOnce(audit: Pick<AuditLog, 'appendOnce'>, record: EndRecord): Promise<void> {
  await audit.appendOnce(record, earlier => earlier.some(({ details }) => details['uid'] === record.details.uid))
}
