// Whether two audit records are about one approval of a commit, so that a process that ended between the record and the PreviewApproval, or another one,
// does not record it again. Pure.
import type { AuditRecord } from '../api/audit-event.ts'

/** The details of `preview.approved` that name the commit. */
const fields = ['pipelineUid', 'repositoryId', 'pullRequest', 'headCommit'] as const

/** True for the record of the same approval by the same person, whatever the way. */
export function isSameApproval(earlier: AuditRecord, record: AuditRecord): boolean {
  return (
    earlier.outcome === record.outcome &&
    earlier.actor === record.actor &&
    fields.every(field => earlier.details[field] === record.details[field])
  )
}
