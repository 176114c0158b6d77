// RemoteSync: keeps an Application at the image built from a branch, pull request or commit of a repository.

import { defineKind, type ObjectOf } from '../kind.ts'
import { followerFields, followerReasons, followerStatusFields } from '../repository-follower.ts'
import { objectName } from '../schema/fields.ts'
import { choice, exactlyOneOf, integer, list, object, optional, text } from '../schema/schema.ts'

const moment = (description: string) => optional(text({ description, max: 64, format: 'date-time' }))

export const remoteSync = defineKind({
  group: 'apps',
  kind: 'RemoteSync',
  plural: 'remotesyncs',
  shortNames: ['rsync'],
  scope: 'Namespaced',
  description: 'Follows a repository and keeps an Application at what was built from it.',
  spec: object(
    {
      ...followerFields,
      source: object(
        {
          branch: optional(text({ description: 'Follow the head of a branch.', max: 255, pattern: '^[^ ~^:?*\\[\\\\]+$' })),
          pullRequest: optional(integer({ description: 'Follow the head of a pull request.', min: 1, max: 2_147_483_647 })),
          commit: optional(text({ description: 'Stay at one commit.', max: 64, pattern: '^[0-9a-f]{40}([0-9a-f]{24})?$' })),
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
          timeoutSeconds: integer({ description: 'How long a build may take.', min: 30, max: 7200, default: 900 }),
          env: optional(
            list(
              object(
                {
                  name: text({ description: 'The variable.', max: 256, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
                  value: text({ description: 'Its value.', min: 0, max: 4096 }),
                },
                { description: 'One variable.' },
              ),
              { description: 'Environment of the build.', max: 50, unique: ['name'] },
            ),
          ),
        },
        { description: 'How to build.' },
      ),
      application: objectName('The Application in this namespace that gets the image.'),
    },
    {
      description: 'What to follow and where it goes.',
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
    commit: optional(text({ description: 'The commit that source means now.', max: 64 })),
    build: optional(
      object(
        {
          name: text({ description: 'The build in the build namespace.', max: 253 }),
          commit: text({ description: 'The commit it builds.', max: 64 }),
          attempt: integer({ description: 'Counts from 1 when the same commit is tried again.', min: 1, max: 1_000_000 }),
        },
        { description: 'The build under way, or the last one.' },
      ),
    ),
    image: optional(text({ description: 'The last image that was built, by digest.', max: 512 })),
    imageCommit: optional(text({ description: 'The commit that image was built from.', max: 64 })),
    imageBuild: optional(text({ description: 'The build that made that image.', max: 253 })),
    handledWake: optional(text({ description: 'The wake annotation that was acted upon last.', max: 512 })),
    failedCommit: optional(
      text({ description: 'The commit whose build failed last; not tried again until something changes.', max: 64 }),
    ),
    failure: optional(
      object(
        {
          stage: choice(['Fetched', 'Built'], { description: 'Where it failed.' }),
          reason: text({ description: 'Why, as one CamelCase word.', max: 128 }),
          message: text({ description: 'Why, with the end of the log and the cure.', max: 2048 }),
        },
        { description: 'The story of failedCommit.' },
      ),
    ),
    phases: optional(
      object(
        {
          signalledAt: moment('When the webhook arrived (or the sweep noticed).'),
          resolvedAt: moment('When the commit was known.'),
          fetchedAt: moment('When the source store held it.'),
          buildCreatedAt: moment('When the build was made.'),
          buildStartedAt: moment('When its pod started.'),
          builtAt: moment('When the builder was done.'),
          deployedAt: moment('When the Application was told.'),
          availableAt: moment('When the Application was rolled out.'),
        },
        { description: 'When each phase of the newest commit ended, to the millisecond where it is ours to say.' },
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
