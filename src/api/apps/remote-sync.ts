// RemoteSync: keeps an Application at the image built from a branch, pull request or commit of a repository.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { followerFields, followerReasons, followerReasonTexts, followerStatusFields } from '../repository-follower.ts'
import type { ReasonTexts } from '../resource.ts'
import { commitId, environmentField, objectName, timestamp } from '../schema/fields.ts'
import { choice, exactlyOneOf, integer, object, optional, text } from '../schema/schema.ts'

export const remoteSync = defineKind({
  group: 'apps',
  kind: 'RemoteSync',
  plural: 'remotesyncs',
  shortNames: ['rsync'],
  scope: 'Namespaced',
  tenantAccess: 'write',
  description: 'Follows a repository, builds an image of each new commit, and keeps an Application at the newest image.',
  writtenBy: 'Developers and admins of the tenant.',
  spec: object(
    {
      ...followerFields,
      source: object(
        {
          branch: optional(
            text({
              description: 'Follow the newest commit of this branch, such as `main`.',
              max: 255,
              pattern: '^[^ ~^:?*\\[\\\\]+$',
            }),
          ),
          pullRequest: optional(
            integer({
              description: 'Follow the newest commit of the pull request with this number.',
              min: 1,
              max: 2_147_483_647,
            }),
          ),
          commit: optional(commitId('Stay at this commit, given by its full id.')),
        },
        {
          description: 'Which commit to deploy. Exactly one of `branch`, `pullRequest` and `commit` must be set.',
          rules: [
            exactlyOneOf(['branch', 'pullRequest', 'commit'], 'source must set exactly one of branch, pullRequest, commit'),
          ],
        },
      ),
      subPath: optional(
        text({
          description:
            'The folder of the application in the repository, such as `services/api`. The root of the repository when omitted.',
          max: 512,
          pattern: '^[^/][^ ]*$',
        }),
      ),
      build: object(
        {
          strategy: choice(['Buildpacks'], {
            description: 'How the image is built: by Cloud Native Buildpacks.',
            default: 'Buildpacks',
          }),
          timeoutSeconds: integer({
            description: 'How long one build may take, in seconds. A build that takes longer is ended and counts as failed.',
            min: 30,
            max: 7200,
            default: 900,
          }),
          env: optional(environmentField('Environment variables of the build.', 50)),
        },
        { description: 'How the image is built. `{}` uses the defaults.' },
      ),
      application: objectName(
        'The name of the Application in this namespace that runs the image. It must exist; the RemoteSync sets its `spec.image` and `spec.commit`.',
      ),
    },
    {
      description: 'Which commit of which repository is built, and where the image runs.',
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
    commit: optional(text({ description: 'The commit that `spec.source` means now.', max: 64 })),
    build: optional(
      object(
        {
          name: text({ description: 'The name of the build in the build namespace of the tenant.', max: 253 }),
          commit: text({ description: 'The commit that it builds.', max: 64 }),
          attempt: integer({
            description: 'Which attempt to build this commit it is, starting with 1.',
            min: 1,
            max: 1_000_000,
          }),
        },
        { description: 'The current build, or the last one.' },
      ),
    ),
    image: optional(text({ description: 'The image of the last successful build, by digest.', max: 512 })),
    imageCommit: optional(text({ description: 'The commit from which `image` was built.', max: 64 })),
    imageBuild: optional(text({ description: 'The name of the build that created `image`.', max: 253 })),
    handledWake: optional(
      text({
        description:
          'The value of the annotation `sekisho.dev/wake` at the last check of the repository. A webhook changes the annotation, which causes a new check.',
        max: 512,
      }),
    ),
    failedCommit: optional(
      text({
        description: 'The commit whose build failed last. It is not built again until the RemoteSync or the repository changes.',
        max: 64,
      }),
    ),
    failure: optional(
      object(
        {
          stage: choice(['Fetched', 'Built'], { description: 'The stage that failed, named like its condition.' }),
          reason: text({ description: 'Why, as one of the reasons of the conditions.', max: 128 }),
          message: text({ description: 'Why, with the end of the build log and what to do about it.', max: 2048 }),
        },
        { description: 'Why `failedCommit` could not be built.' },
      ),
    ),
    phases: optional(
      object(
        {
          signalledAt: optional(timestamp('When the webhook of the commit arrived, or the periodic check found the commit.')),
          resolvedAt: optional(timestamp('When the commit was known.')),
          fetchedAt: optional(timestamp('When the source of the commit was fetched from GitHub.')),
          buildCreatedAt: optional(timestamp('When the build was created.')),
          buildStartedAt: optional(timestamp('When the pod of the build started. Whole seconds.')),
          builtAt: optional(timestamp('When the end of the build was observed.')),
          deployedAt: optional(timestamp('When image and commit were set on the Application.')),
          availableAt: optional(timestamp('When the rollout of the Application was complete.')),
        },
        { description: 'When the newest commit passed each phase, in milliseconds unless stated otherwise.' },
      ),
    ),
  },
  conditions: {
    Resolved: 'GitHub was asked, under an approved grant, which commit `spec.source` means.',
    Fetched: 'The source of the commit was fetched from GitHub.',
    Built: 'The image was built from the commit.',
    Deployed: 'Image and commit were set on the Application.',
    Ready: 'The Application runs the image of the newest commit.',
  },
  reasons: {
    Done: 'The stage is complete.',
    Deployed: 'The Application runs the newest commit.',
    ...followerReasonTexts,
    InstallationNotReady: 'The Installation that `spec.installation` names does not exist or is not ready.',
    RepositoryNotFound: 'The repository was deleted, or the installation of the App does not reach it any more.',
    BranchNotFound: 'The repository does not have the branch. Push it, or correct `spec.source.branch`.',
    PullRequestNotFound: 'The repository does not have a pull request with this number.',
    PullRequestClosed: 'The pull request is closed or merged. What was built before keeps serving; nothing more is built.',
    PullRequestFromFork:
      'The commits of the pull request are in a fork, where people push who have no rights in the repository. They are not built.',
    CommitNotInRepository:
      'The commit is neither on the default branch of the repository nor the newest commit of another branch. GitHub also shows commits of forks, which are not built. Push a branch that ends at the commit.',
    CommitNotFound: 'GitHub does not have the commit, or does not have it any more.',
    SourceTooLarge: 'The files of the commit exceed the limit of the platform (`SEKISHO_SOURCE_MEGABYTES`).',
    FetchFailed: 'The source could not be fetched from GitHub. The platform tries again.',
    Queued: 'As many builds are running as the tenant or the platform may run at once. The build starts when one of them ends.',
    Fetching: 'The source is being fetched from GitHub.',
    Building: 'The build is running.',
    BuildFailed: 'The build failed. The message has the end of its log. Correct the cause and push again.',
    BuildTimedOut: 'The build was ended after `spec.build.timeoutSeconds`.',
    BuiltFromWrongCommit: 'The image names another commit than the requested one and is not used. Report it to a platform admin.',
    CommitNotProven: 'The image does not say which commit it was built from, and is not used. Report it to a platform admin.',
    RegistryUnreachable: 'The image cannot be read from the registry, so its commit is not proven yet. The platform tries again.',
    NotATenantNamespace: 'The namespace does not belong to a Tenant, or its Tenant is not ready.',
    BuilderNotReady:
      'The build system refused the build, or is not installed. The platform tries again. Report it to a platform admin.',
    ApplicationNotFound: 'The Application that `spec.application` names does not exist. Create it.',
    ApplicationTaken: 'Another RemoteSync already sets the image of this Application. Delete one of the two.',
    ApplicationNotReady: 'The image was set on the Application, but the Application is not ready. The message has its reason.',
    RollingOut: 'The Application is starting the new image. Until it is ready, the earlier version keeps serving.',
    GitHubUnreachable: 'GitHub does not answer, or limits the rate of requests. The platform tries again.',
  } satisfies ReasonTexts<typeof remoteSyncReasons>,
  columns: [
    { name: 'Repository', type: 'string', jsonPath: '.spec.repository' },
    { name: 'Followed', type: 'string', jsonPath: '.status.repository.name', priority: 1 },
    { name: 'Commit', type: 'string', jsonPath: '.status.commit' },
    { name: 'Built', type: 'string', jsonPath: '.status.imageCommit', priority: 1 },
    ...readyColumns,
    ageColumn,
  ],
  selectableFields: ['.spec.repository', '.spec.application'],
})

export type RemoteSync = ObjectOf<typeof remoteSync>

/** Reasons of the conditions; described in the definition above. */
export const remoteSyncReasons = {
  done: 'Done',
  deployed: 'Deployed',
  ...followerReasons,
  installationNotReady: 'InstallationNotReady',
  repositoryNotFound: 'RepositoryNotFound',
  branchNotFound: 'BranchNotFound',
  pullRequestNotFound: 'PullRequestNotFound',
  pullRequestClosed: 'PullRequestClosed',
  pullRequestFromFork: 'PullRequestFromFork',
  commitNotInRepository: 'CommitNotInRepository',
  commitNotFound: 'CommitNotFound',
  sourceTooLarge: 'SourceTooLarge',
  fetchFailed: 'FetchFailed',
  queued: 'Queued',
  fetching: 'Fetching',
  building: 'Building',
  buildFailed: 'BuildFailed',
  buildTimedOut: 'BuildTimedOut',
  wrongCommit: 'BuiltFromWrongCommit',
  commitNotProven: 'CommitNotProven',
  registryUnreachable: 'RegistryUnreachable',
  notATenant: 'NotATenantNamespace',
  builderNotReady: 'BuilderNotReady',
  applicationNotFound: 'ApplicationNotFound',
  applicationTaken: 'ApplicationTaken',
  applicationNotReady: 'ApplicationNotReady',
  rollingOut: 'RollingOut',
  unreachable: 'GitHubUnreachable',
} as const
