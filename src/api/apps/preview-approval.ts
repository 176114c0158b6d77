// PreviewApproval: a person with write access to a repository looked at one commit of a pull request from a fork and lets the
// platform fetch, build and run it. Written by the platform only, after it asked GitHub about that person, and never changed.
// The approval is for the commit: a push makes another one, which nobody has approved.
import { AppError } from '../../lib/errors.ts'
import type { AuditRecord } from '../audit/audit-event.ts'
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { labels, previewName } from '../names.ts'
import { defineReasons } from '../reasons/reason.ts'
import { numericId, objectName } from '../schema/fields.ts'
import { choice, integer, object, text } from '../schema/schema.ts'
import type { AppPipeline } from './app-pipeline.ts'

/**
 * How an approval was given. The first two are read from GitHub, the next two come from the broker, the last one is no person's
 * act.
 */
export const approvalWays = ['Comment', 'Review', 'Page', 'CommandLine', 'Trusted'] as const
export type ApprovalWay = (typeof approvalWays)[number]

/** The ways of the broker, which knows who is signed in; the controllers write the others. Admission holds both to their own. */
export const brokerWays: readonly ApprovalWay[] = ['Page', 'CommandLine']

/** A full SHA-1 commit id. A shorter one can be forged: two commits with the same first characters are easily made. */
export const headCommitPattern = '^[0-9a-f]{40}$'

const reasons = defineReasons({
  ready: {
    Approved: 'The commit that was approved is the present head of the pull request.',
  },
  intended: {
    Superseded:
      'The pull request has another head commit now, which needs an approval of its own. The platform deletes this one.',
  },
})

/** Reasons of the condition Ready. */
export const previewApprovalReasons = reasons.names

export const previewApproval = defineKind({
  group: 'apps',
  kind: 'PreviewApproval',
  plural: 'previewapprovals',
  shortNames: ['pappr'],
  scope: 'Namespaced',
  tenantAccess: 'read',
  description:
    'Lets the platform fetch, build and run one commit of a pull request from a fork. It holds for exactly this commit: after a push somebody has to approve again.',
  writtenBy:
    'The platform, when a person whose write access to the repository GitHub confirms approves the commit: by a comment, a review, the web page or `sekisho previews approve`.',
  immutableSpec: true,
  spec: object(
    {
      pipeline: object(
        {
          name: objectName('The name of the AppPipeline.'),
          uid: text({
            description: 'The `metadata.uid` of the AppPipeline: a later one of the same name does not inherit the approval.',
            max: 64,
          }),
        },
        { description: 'The AppPipeline in the same namespace whose preview was approved.' },
      ),
      repository: numericId('The numeric id of the repository to which the pull request belongs.'),
      number: integer({ description: 'The number of the pull request.', min: 1, max: 2_147_483_647 }),
      headCommit: text({
        description: 'The full id of the commit that was approved.',
        max: 40,
        pattern: headCommitPattern,
      }),
      by: object(
        {
          id: numericId('The numeric id of the person on GitHub.'),
          login: text({ description: 'The login of the person at that time, for display only.', max: 100 }),
        },
        { description: 'Who approved. GitHub said at that time that this person may write to the repository.' },
      ),
      via: choice(approvalWays, {
        description:
          'How it was approved. `Comment`: the comment `/sekisho approve <full commit id>` on the pull request; `Review`: an approving review of that commit; `Page`: the web page; `CommandLine`: `sekisho previews approve`; `Trusted`: the fork belongs to the author of the pull request, who may write to the repository, and the AppPipeline says `forks: Trusted`.',
      }),
    },
    { description: 'Which commit was approved, and by whom.' },
  ),
  status: {},
  conditions: { Ready: 'The commit that was approved is the present head of the pull request.' },
  reasons,
  rules: [
    {
      rule: "self.metadata.name.endsWith('-' + self.spec.headCommit.substring(0, 12))",
      message: 'metadata.name must end in a hyphen and the first 12 characters of spec.headCommit',
    },
  ],
  columns: [
    { name: 'Pipeline', type: 'string', jsonPath: '.spec.pipeline.name' },
    { name: 'Pull', type: 'integer', jsonPath: '.spec.number' },
    { name: 'Commit', type: 'string', jsonPath: '.spec.headCommit', priority: 1 },
    { name: 'By', type: 'string', jsonPath: '.spec.by.login' },
    { name: 'Via', type: 'string', jsonPath: '.spec.via' },
    ...readyColumns,
    ageColumn,
  ],
  selectableFields: ['.spec.pipeline.name', '.spec.headCommit'],
})

export type PreviewApproval = ObjectOf<typeof previewApproval>

/** What an approval is about. `pipeline` is the uid of the AppPipeline. */
export type ApprovedHead = {
  readonly pipeline: string
  readonly repository: number
  readonly number: number
  readonly headCommit: string
}

/**
 * True when the approval holds for exactly this head: of this AppPipeline, this repository, this pull request and this commit.
 */
export function approves({ spec }: PreviewApproval, head: ApprovedHead): boolean {
  return (
    spec.pipeline.uid === head.pipeline &&
    spec.repository === head.repository &&
    spec.number === head.number &&
    spec.headCommit === head.headCommit
  )
}

/** The name of the approval of a commit; `preview` is the name of the preview's Application (`previewName` in names.ts). */
export function previewApprovalName(preview: string, headCommit: string): string {
  return `${preview}-${headCommit.slice(0, 12)}`
}

/**
 * What is known when somebody approves: the AppPipeline as it was read from the API server, and what its controller does not
 * know.
 */
export type NewApproval = Omit<PreviewApproval['spec'], 'pipeline'>

/**
 * The approval to create; the garbage collector deletes it with its AppPipeline. Throws for an AppPipeline that was not read
 * from the API server.
 */
export function newPreviewApproval(pipeline: AppPipeline, approval: NewApproval): Omit<PreviewApproval, 'status'> {
  const { apiVersion, kind, metadata } = pipeline
  const { name, namespace = '', uid } = metadata
  if (uid === undefined) throw new AppError('internal', `${kind} ${name} has no uid: it was not read from the API server`)
  return {
    apiVersion: previewApproval.apiVersion,
    kind: previewApproval.kind,
    metadata: {
      name: previewApprovalName(previewName(name, approval.number), approval.headCommit),
      namespace,
      labels: {
        [labels.appPipeline]: name,
        [labels.repository]: String(approval.repository),
        [labels.pullRequest]: String(approval.number),
        [labels.managedBy]: 'sekisho',
      },
      ownerReferences: [{ apiVersion, kind, name, uid, controller: false }],
    },
    spec: { pipeline: { name, uid }, ...approval },
  }
}

/** The details of the audit record `preview.approved` that name the commit. */
const recordedHead = ['pipelineUid', 'repositoryId', 'pullRequest', 'headCommit'] as const

/**
 * True for the record of the same approval by the same person, whatever the way: a process that ended between the record and
 * the object, or another one, must not record it again.
 */
export function isSameApproval(earlier: AuditRecord, record: AuditRecord): boolean {
  return (
    earlier.outcome === record.outcome &&
    earlier.actor === record.actor &&
    recordedHead.every(field => earlier.details[field] === record.details[field])
  )
}
