// Records that an object of ours has ended, once for each object, before its finalizer goes: while the log cannot be written
// the object stays. What it gave access to has ended by then.
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import type { AuditLog } from './audit-log.ts'
import { type DoneTo, findDoer } from './find-doer.ts'

type EndRecord = TenantAuditRecord & { readonly details: { readonly uid: string } }

/** Rejects when the log cannot be written. `details.uid` is the object's: another object of that name is recorded again. */
export async function recordEndOnce(audit: Pick<AuditLog, 'appendOnce'>, record: EndRecord): Promise<void> {
  const { uid, cause } = record.details
  await audit.appendOnce(record, earlier => earlier.some(({ details }) => details['uid'] === uid && details['cause'] === cause))
}

/** As `recordEndOnce`, with who did it: in `record` the actor is who says so when that is not known. */
export async function recordEndBy(audit: Pick<AuditLog, 'appendOnce' | 'list'>, record: EndRecord, done: DoneTo): Promise<void> {
  const { actor = record.actor, details } = await findDoer(audit, done)
  await recordEndOnce(audit, { ...record, actor, details: { ...record.details, ...details } })
}
