// Parts of RepositoryGrant that its status and its policies share: what a grant can name, what can be decided about it, and how
// long its tokens live.
import { choice, integer, list, object, optional, text } from '../../schema/schema.ts'

/** What a grant can name as its subject: workloads, and every kind that follows a repository. */
export const grantSubjectKinds = ['ServiceAccount', 'Application', 'RemoteSync', 'AppPipeline'] as const

/** What can be decided about a grant. */
export const grantDecisions = ['Approved', 'Waiting', 'Denied'] as const
export type GrantDecisionName = (typeof grantDecisions)[number]

/** What policies in mode Audit would change. */
export const grantAuditField = optional(
  object(
    {
      decision: choice(grantDecisions, { description: 'The decision that there would be.' }),
      rule: text({ description: 'The rule that would decide, as `GrantPolicy/<policy>/<rule>`.', max: 253 }),
      message: text({ description: 'Why, as text for people.', max: 1000 }),
    },
    {
      description:
        'What policies in mode `Audit` would change: the decision that there would be if they were enforced. Absent when they would change nothing.',
    },
  ),
)

/** Of subjects for which a policy says another time than usual. */
export const tokenLifetimesField = optional(
  list(
    object(
      {
        kind: choice(grantSubjectKinds, { description: 'The kind of the subject.' }),
        name: text({ description: 'The name of the subject.', max: 253 }),
        seconds: integer({ description: 'How long its tokens live, in seconds.', min: 60, max: 3600 }),
      },
      { description: 'One subject.' },
    ),
    {
      description:
        'The subjects whose tokens live for another time than those of their kind do, because a policy says so (`tokenLifetimeSeconds`).',
      max: 20,
      unique: ['kind', 'name'],
    },
  ),
)

/** Approvals that ended because their authors left. */
export const endedApprovalsField = optional(
  list(
    object(
      {
        uid: text({ description: 'The UID of the GrantApproval.', min: 1, max: 64 }),
        by: text({ description: 'Who had approved.', max: 300 }),
      },
      { description: 'One approval that does not count any more.' },
    ),
    {
      description:
        'The approvals whose authors have left the organization since. They never count again, and the platform deletes them: who comes back approves again.',
      max: 1000,
      unique: ['uid'],
    },
  ),
)
