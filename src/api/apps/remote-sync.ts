// RemoteSync: keeps an Application at the image built from a branch, pull request or commit of a repository.

import { defineKind, type ObjectOf } from '../kind.ts'
import { followerFields, followerReasons, followerStatusFields } from '../repository-follower.ts'
import { objectName } from '../schema/fields.ts'
import { choice, exactlyOneOf, integer, list, object, optional, text } from '../schema/schema.ts'

const time = (description: string) => optional(text({ description, max: 64, format: 'date-time' }))

export const remoteSync = defineKind({
  group: 'apps',
  kind: 'RemoteSync',
  plural: 'remotesyncs',
  shortNames: ['rsync'],
  scope: 'Namespaced',
  description: 'Follows a repository and keeps an Application at the image that was built from it.',
  spec: object(
    {
      ...followerFields,
      source: object(
        {
          branch: optional(text({ description: 'Follow the head of this branch.', max: 255, pattern: '^[^ ~^:?*\\[\\\\]+$' })),
          pullRequest: optional(integer({ description: 'Follow the head of this pull request.', min: 1, max: 2_147_483_647 })),
          commit: optional(
            text({ description: 'Stay at this commit, by its full id.', max: 64, pattern: '^[0-9a-f]{40}([0-9a-f]{24})?$' }),
          ),
        },
        {
          description: 'What to follow.',
          rules: [
            exactlyOneOf(['branch', 'pullRequest', 'commit'], 'source must set exactly one of branch, pullRequest, commit'),
          ],
        },
      ),
      subPath: optional(
        text({ description: 'The folder of the application in the repository.', max: 512, pattern: '^[^/][^ ]*$' }),
      ),
      build: object(
        {
          strategy: choice(['Buildpacks'], { description: 'How the image is built.', default: 'Buildpacks' }),
          timeoutSeconds: integer({
            description: 'The build is cancelled after this many seconds.',
            min: 30,
            max: 7200,
            default: 900,
          }),
          env: optional(
            list(
              object(
                {
                  name: text({ description: 'The name of the variable.', max: 256, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
                  value: text({
                    description: 'The value of the variable. Not for secrets: people who can read the RemoteSync can read it.',
                    min: 0,
                    max: 4096,
                  }),
                },
                { description: 'One environment variable.' },
              ),
              { description: 'Environment variables of the build.', max: 50, unique: ['name'] },
            ),
          ),
        },
        { description: 'How to build.' },
      ),
      application: objectName('The Application in this namespace on which image and commit are set.'),
    },
    {
      description: 'What to follow, how to build it, and which Application runs it.',
      rules: [
        {
          rule: "!has(self.subPath) || !self.subPath.split('/').exists(p, p == '..')",
          message: 'subPath must stay inside the repository',
          fieldPath: '.subPath',
        },
      ],
    },
  ),
  followsRepository: {
    source: ({ source }) => ({ branch: source.branch, pullRequest: source.pullRequest }),
    permissions: ({ source }) => (source.pullRequest === undefined ? {} : { pull_requests: 'read' }),
    purpose: ({ application }) => `builds Application ${application}`,
  },
  status: {
    ...followerStatusFields,
    commit: optional(text({ description: 'The commit that `source` names now.', max: 64 })),
    build: optional(
      object(
        {
          name: text({ description: 'The name of the build in the build namespace.', max: 253 }),
          commit: text({ description: 'The commit it builds.', max: 64 }),
          attempt: integer({ description: '1 for the first build of the commit; each retry adds 1.', min: 1, max: 1_000_000 }),
        },
        { description: 'The current build, or the last one.' },
      ),
    ),
    image: optional(text({ description: 'The last image that was built, by digest.', max: 512 })),
    imageCommit: optional(text({ description: 'The commit that `image` was built from.', max: 64 })),
    imageBuild: optional(text({ description: 'The build that made `image`.', max: 253 })),
    handledWake: optional(text({ description: 'The wake annotation (set by webhooks) that was handled last.', max: 512 })),
    failedCommit: optional(
      text({
        description: 'The commit that failed. It is not built again until a webhook arrives or the spec changes.',
        max: 64,
      }),
    ),
    failure: optional(
      object(
        {
          stage: choice(['Fetched', 'Built'], { description: 'The stage that failed.' }),
          reason: text({ description: 'The cause, as one CamelCase word.', max: 128 }),
          message: text({ description: 'The cause, with the last lines of the log, and what to do.', max: 2048 }),
        },
        { description: 'Why `failedCommit` failed.' },
      ),
    ),
    phases: optional(
      object(
        {
          signalledAt: time('When the webhook arrived, or the periodic check found the commit.'),
          resolvedAt: time('When the commit was resolved.'),
          fetchedAt: time('When the source store had fetched the commit.'),
          buildCreatedAt: time('When the build was created.'),
          buildStartedAt: time('When the pod of the build started.'),
          builtAt: time('When the build had ended.'),
          deployedAt: time('When image and commit were set on the Application.'),
          availableAt: time('When the Application had rolled the image out.'),
        },
        { description: 'When each phase of the newest commit ended. Times of the platform have milliseconds.' },
      ),
    ),
  },
  columns: [
    { name: 'Repository', type: 'string', jsonPath: '.spec.repository' },
    { name: 'Commit', type: 'string', jsonPath: '.status.commit' },
    { name: 'Built', type: 'string', jsonPath: '.status.imageCommit', priority: 1 },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: ['.spec.repository', '.spec.application'],
})

export type RemoteSync = ObjectOf<typeof remoteSync>

export const remoteSyncReasons = {
  deployed: 'Deployed',
  ...followerReasons,
  installationNotReady: 'InstallationNotReady',
  branchNotFound: 'BranchNotFound',
  pullRequestNotFound: 'PullRequestNotFound',
  commitNotFound: 'CommitNotFound',
  sourceTooLarge: 'SourceTooLarge',
  fetchFailed: 'FetchFailed',
  queued: 'Queued',
  fetching: 'Fetching',
  building: 'Building',
  buildFailed: 'BuildFailed',
  buildTimedOut: 'BuildTimedOut',
  wrongCommit: 'BuiltFromWrongCommit',
  notATenant: 'NotATenantNamespace',
  builderNotReady: 'BuilderNotReady',
  applicationNotFound: 'ApplicationNotFound',
  applicationTaken: 'ApplicationTaken',
  applicationNotReady: 'ApplicationNotReady',
  rollingOut: 'RollingOut',
  unreachable: 'GitHubUnreachable',
} as const
