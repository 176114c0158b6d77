// What was written into the audit log. Actions and their outcomes are closed lists; who, where and what are not labels.
import { Counter, type Registry } from 'prom-client'
import { type AuditRecord, auditActions, auditEvents } from '../../api/audit/audit-event.ts'
import type { AuditLog } from './audit-log.ts'

export type AuditMetrics = {
  readonly appended: (record: Pick<AuditRecord, 'action' | 'outcome'>) => void
  readonly failed: () => void
}

/** Register it once per registry. */
export function createAuditMetrics(registry: Registry): AuditMetrics {
  const entries = new Counter({
    name: 'sekisho_audit_entries_total',
    help: 'Entries that this process appended to the audit log. Equal events are counted in one entry, so this is not their number.',
    labelNames: ['action', 'outcome'],
    registers: [registry],
  })
  for (const action of auditActions)
    for (const outcome of Object.keys(auditEvents[action].outcomes)) entries.inc({ action, outcome }, 0)
  const failures = new Counter({
    name: 'sekisho_audit_append_failures_total',
    help: 'Records that the audit log did not accept: what they were about was not done.',
    registers: [registry],
  })
  return { appended: ({ action, outcome }) => entries.inc({ action, outcome }), failed: () => failures.inc() }
}

/** The same log, counted. What `appendOnce` finds recorded already is counted, too: it happens once after a crash. */
export function countedAuditLog<L extends AuditLog>(log: L, { appended, failed }: AuditMetrics): L {
  const counted = async <T>(record: AuditRecord, work: Promise<T>): Promise<T> => {
    try {
      const result = await work
      appended(record)
      return result
    } catch (error) {
      failed()
      throw error
    }
  }
  return {
    ...log,
    append: record => counted(record, log.append(record)),
    appendOnce: (record, alreadyRecorded) => counted(record, log.appendOnce(record, alreadyRecorded)),
  }
}
