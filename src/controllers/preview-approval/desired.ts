// The approval to create and the audit record that precedes it. Pure.
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import { newPreviewApproval, type PreviewApproval } from '../../api/apps/preview-approval.ts'
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import { userSubject } from '../../api/names.ts'
import type { Candidate } from './decide.ts'

export type Approved = {
  readonly pipeline: AppPipeline
  readonly host: string
  readonly repository: number
  readonly number: number
  readonly headCommit: string
  /** With the present login. GitHub said that this person may write to the repository. */
  readonly by: Candidate
}

export function desiredApproval({ pipeline, repository, number, headCommit, by }: Approved): Omit<PreviewApproval, 'status'> {
  return newPreviewApproval(pipeline, { repository, number, headCommit, by: by.by, via: by.via })
}

/** Why it was approved, for the audit log. */
const reasonTexts: Readonly<Record<string, string>> = {
  Comment: 'the person commented /sekisho approve with this commit, and may write to the repository',
  Review: 'the person approved this commit in a review, and may write to the repository',
  Trusted: 'the author of the pull request may write to the repository, and the AppPipeline trusts such authors',
}

export function approvalRecord(approved: Approved): TenantAuditRecord {
  const { pipeline, host, repository, number, headCommit, by } = approved
  const { metadata, kind } = desiredApproval(approved)
  const { namespace = '', uid = '' } = pipeline.metadata
  return {
    action: 'preview.approved',
    actor: userSubject(host, by.by.id),
    namespace,
    object: `${kind}/${namespace}/${metadata.name}`,
    outcome: 'allowed',
    reason: reasonTexts[by.via] ?? by.via,
    details: {
      host,
      login: by.by.login,
      pipelineUid: uid,
      repositoryId: repository,
      pullRequest: number,
      headCommit,
      via: by.via,
    },
  }
}
