// GitHubReport: what the platform writes to GitHub about one preview or one RemoteSync, and what it has written. Written by the
// controllers only. It outlives the preview, so that the end is reported, too, and it survives a crash: what is intended stands
// here before it is written to GitHub.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons, pacedByPlatform, rightMissing } from '../reasons/reason.ts'
import { commitId, numericId, timestamp } from '../schema/fields.ts'
import { choice, integer, list, object, optional, text } from '../schema/schema.ts'

/** The kinds of writes, in the order of their importance to people. */
export const reportWriteKinds = ['Comment', 'CommitStatus', 'Deployment', 'DeploymentStatus', 'FormerDeployment'] as const
export type ReportWriteKind = (typeof reportWriteKinds)[number]

const contentHash = (description: string) => text({ description, max: 64, pattern: '^[0-9a-f]{32}$' })

const reasons = defineReasons(
  {
    ready: {
      Reported: 'GitHub shows the present state.',
      Accepted: 'GitHub has refused nothing.',
    },
    progress: {
      Writing: 'Something is being written, or waits for its turn: the writes of an installation are limited and spread.',
      WaitingForGrant: 'The grant of the AppPipeline or RemoteSync is not ready, or no token can be requested under it.',
    },
    machine: {
      RateLimited: 'GitHub limits the rate of writes of the installation. The platform goes on when GitHub allows it.',
      GitHubUnreachable: 'GitHub does not answer. The platform tries again.',
    },
    person: {
      Refused:
        'GitHub refuses what is written: the repository is archived, the App lacks a permission, or the commit is gone. The message has its answer.',
    },
  },
  { unreachable: 'GitHubUnreachable' },
  rightMissing,
  pacedByPlatform,
)

/** Reasons of the conditions. */
export const githubReportReasons = reasons.names

export const githubReport = defineKind({
  group: 'apps',
  kind: 'GitHubReport',
  plural: 'githubreports',
  shortNames: ['ghreport'],
  scope: 'Namespaced',
  tenantAccess: 'read',
  description:
    'What the platform writes to GitHub about a preview (a comment, a deployment, a commit status) or about a RemoteSync with `spec.report`, and what it has written.',
  writtenBy: 'The platform only. It ends when the end of the preview stands on GitHub.',
  immutableSpec: true,
  spec: object(
    {
      follower: object(
        {
          kind: choice(['AppPipeline', 'RemoteSync'], { description: 'The kind of the object.' }),
          name: text({ description: 'The name of the object in the same namespace.', max: 253 }),
          uid: text({ description: 'The `metadata.uid` of the object.', max: 64 }),
        },
        { description: 'The object whose grant allows the writes.' },
      ),
      repositoryId: numericId('The numeric id of the repository on GitHub.'),
      pullRequest: optional(
        integer({ description: 'The number of the pull request, for a preview.', min: 1, max: 2_147_483_647 }),
      ),
    },
    { description: 'What is reported on.' },
  ),
  status: {
    writes: optional(
      list(
        object(
          {
            kind: choice(reportWriteKinds, { description: 'What is written.' }),
            intended: contentHash('A hash of what was intended last. It stands here before GitHub is asked.'),
            intendedAt: timestamp('When it was intended. The next write of this kind follows ten seconds later at the earliest.'),
            written: optional(contentHash('A hash of what GitHub has accepted last.')),
            id: optional(numericId('The id of the comment or deployment on GitHub.')),
            commit: optional(commitId('The commit that it is about.')),
            state: optional(text({ description: 'The state that was written last, such as `success`.', max: 32 })),
            refused: optional(
              text({
                description: 'Why GitHub refused what was intended. It is tried again when something changes, or after an hour.',
                max: 512,
              }),
            ),
          },
          { description: 'One kind of write.' },
        ),
        { description: 'What was written, by kind.', max: 5, unique: ['kind'] },
      ),
    ),
    pendingCommit: optional(
      commitId(
        'The commit whose status on GitHub is `pending` because of this report, or may be: it ends when the preview ends.',
      ),
    ),
    servingDeployment: optional(
      numericId('The id of the deployment of an earlier commit that still runs, because the newest commit does not run yet.'),
    ),
    unansweredDeployments: optional(
      list(commitId('A commit.'), {
        description: 'Commits of which GitHub may have a deployment that the report does not know: GitHub did not answer.',
        max: 10,
        unique: 'set',
      }),
    ),
    formerDeployments: optional(
      list(numericId('The id of a deployment on GitHub.'), {
        description: 'Deployments of earlier commits that have to become inactive on GitHub.',
        max: 20,
        unique: 'set',
      }),
    ),
  },
  conditions: {
    Accepted: 'GitHub accepts what the platform writes.',
    Ready: 'GitHub shows the present state.',
  },
  reasons,
  columns: [
    { name: 'Follower', type: 'string', jsonPath: '.spec.follower.name' },
    { name: 'Pull request', type: 'integer', jsonPath: '.spec.pullRequest' },
    { name: 'Comment', type: 'integer', jsonPath: '.status.writes[?(@.kind=="Comment")].id', priority: 1 },
    { name: 'Deployment', type: 'integer', jsonPath: '.status.writes[?(@.kind=="Deployment")].id', priority: 1 },
    ...readyColumns,
    ageColumn,
  ],
})

export type GitHubReport = ObjectOf<typeof githubReport>
