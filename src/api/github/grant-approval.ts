// GrantApproval: the answer of one person to a RepositoryGrant for which a policy requires approval. It is bound to the grant
// that the person saw, by its UID, and never changed. A grant with approvals enough is approved for as long as they count.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { requestedByField } from '../schema/fields.ts'
import { choice, flag, integer, object, optional, text } from '../schema/schema.ts'
import { printableLine } from './halt.ts'

/** What a person answers. */
export const approvalAnswers = ['Approve', 'Deny'] as const

/** How an answer was given where the broker wrote it for the person who is signed in. */
export const answerWays = ['Page'] as const

/** Break-glass stands for at most one hour. */
export const maxBreakGlassSeconds = 3600

const reasons = defineReasons({
  ready: {
    Counted: 'The answer counts for the RepositoryGrant.',
  },
  intended: {
    PersonHalted: 'A Halt of the person who approved stands in the way. The approval counts again when it is lifted.',
  },
  failed: {
    NotAPerson: 'Only a person who is signed in with the GitHub of the Installation can answer.',
  },
})

/** Reasons of the condition Ready. */
export const grantApprovalReasons = reasons.names

/**
 * By which a platform admin who is an admin of the tenant, too, is told from one who is not; the role of a tenant's admins has
 * it. Virtual: no request of the API has this verb.
 */
export const approvalRight = { group: 'github.sekisho.dev', resource: 'repositorygrants', verb: 'approve' } as const

export const grantApproval = defineKind({
  group: 'github',
  kind: 'GrantApproval',
  plural: 'grantapprovals',
  shortNames: ['gappr'],
  scope: 'Namespaced',
  tenantAccess: 'create-delete-by-admin',
  adminAccess: 'create-delete',
  description:
    'The answer of an admin of the tenant to a RepositoryGrant that waits for approval. It counts for that one object only, not for a later one of the same name, and not when its author requested the grant.',
  writtenBy:
    'Admins of the tenant create it, by `sekisho grants approve` and `sekisho grants deny`, or on the page of the tenant, where the platform writes it in the name of the person who is signed in; with `spec.breakGlass` platform admins do. Only its author takes it back, by deleting it. Nobody changes it. The platform deletes it when it can never count: its grant is gone, it has expired, its author requested the grant or has answered again.',
  immutableSpec: true,
  spec: object(
    {
      grant: object(
        {
          name: text({ description: 'The name of the RepositoryGrant in this namespace.', max: 253 }),
          uid: text({ description: 'The `metadata.uid` of the RepositoryGrant that the person saw.', min: 1, max: 64 }),
        },
        { description: 'What the answer is about.' },
      ),
      answer: choice(approvalAnswers, {
        description:
          '`Approve`: one of the approvals that the policy requires. `Deny`: the grant is denied for as long as this answer exists, whoever approves, until its author takes it back.',
      }),
      reason: text({
        description: 'Why, as text for people who read the audit log. One line without control characters.',
        min: 3,
        max: 500,
        pattern: printableLine,
      }),
      lifetimeSeconds: integer({
        description:
          'How long an approval counts, in seconds. The grant waits again when too few approvals count. The default is 30 days. A denial does not end by itself.',
        min: 60,
        max: 31_536_000,
        default: 2_592_000,
      }),
      via: optional(
        choice(answerWays, {
          description:
            'How it was given. `Page`: on the page of the tenant; the platform wrote it for the person who was signed in and whom RBAC allowed to. Absent: the author wrote it.',
        }),
      ),
      breakGlass: optional(
        flag({
          description:
            'True: a platform admin approves in an emergency, in place of all approvals that are missing, for at most one hour (`lifetimeSeconds`). It lifts neither a rule that denies nor a person who does, nor the ceiling of the Installation, nor what the requester may on GitHub.',
        }),
      ),
      requestedBy: requestedByField,
    },
    {
      description: 'The answer. It cannot change: its author deletes it and creates another one.',
      rules: [
        {
          rule: `!self.?breakGlass.orValue(false) || (self.answer == 'Approve' && self.lifetimeSeconds <= ${maxBreakGlassSeconds})`,
          message: `breakGlass approves for at most one hour: set answer to Approve, and lifetimeSeconds to at most ${maxBreakGlassSeconds}`,
        },
        {
          rule: '!self.?breakGlass.orValue(false) || !has(self.via)',
          message: 'breakGlass is given by a platform admin in person, not on a page: leave via out',
        },
      ],
    },
  ),
  status: {},
  conditions: { Ready: 'The answer counts.' },
  reasons,
  rules: [
    {
      rule: 'self.metadata.name.size() <= 230',
      message: 'metadata.name must have at most 230 characters: decisions name the answer',
    },
  ],
  columns: [
    { name: 'Grant', type: 'string', jsonPath: '.spec.grant.name' },
    { name: 'Answer', type: 'string', jsonPath: '.spec.answer' },
    { name: 'By', type: 'string', jsonPath: '.spec.requestedBy' },
    { name: 'Break-glass', type: 'boolean', jsonPath: '.spec.breakGlass', priority: 1 },
    ...readyColumns,
    { name: 'Why', type: 'string', jsonPath: '.spec.reason', priority: 1 },
    ageColumn,
  ],
  selectableFields: ['.spec.grant.name'],
})

export type GrantApproval = ObjectOf<typeof grantApproval>
