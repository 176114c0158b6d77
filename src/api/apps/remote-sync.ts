// RemoteSync: keeps an Application at the image built from a branch, pull request or commit of a repository.

import { followerFields, followerReasonDefinitions, followerStatusFields } from '../capabilities/repository-follower.ts'
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons, pacedByPlatform, rightMissing } from '../reasons/reason.ts'
import { timestamp } from '../schema/fields.ts'
import { choice, flag, integer, object, optional, text } from '../schema/schema.ts'
import {
  applicationField,
  applicationRules,
  deployedApplicationsField,
  otherApplicationsField,
} from './remote-sync/applications.ts'
import { buildField, pathsField, subPathField, subPathRules } from './remote-sync/build-fields.ts'
import { rebaseField } from './remote-sync/rebase.ts'
import { sourceField, sourceStatusFields } from './remote-sync/source.ts'

const reasons = defineReasons(
  {
    ready: {
      Done: 'The stage is complete.',
      Deployed:
        'The Application runs the commit that was the newest when GitHub was last asked: at a webhook, or at the periodic check.',
      Promoted:
        'The Application runs the image of a pull request whose files are exactly those of the newest commit. Nothing was built again.',
      PathsUnchanged:
        'The Application runs the commit that was built last, and nothing under `spec.paths` has changed since. The newest commit is not built.',
      CommitSkipped:
        'The Application runs the commit that was built last. The message of the newest commit of the branch contains `[skip ci]`, or another text with which GitHub skips workflows: it is not built.',
    },
    progress: {
      MergePending:
        'GitHub has not computed yet what merging the pull request would give. The platform asks again, with growing waits.',
      Queued: 'As many builds are running as the tenant or the platform may run at once. The build starts when one of them ends.',
      Fetching: 'The source is being fetched from GitHub.',
      Building: 'The build is running.',
      RollingOut: 'The Application is starting the new image. Until it is ready, the earlier version keeps serving.',
    },
    machine: {
      FetchFailed: 'The source could not be fetched from GitHub. The platform tries again.',
      RegistryUnreachable:
        'The image cannot be read from the registry, so its commit is not proven yet. The platform tries again.',
      BuilderNotReady:
        'The build system refused the build, or is not installed. The platform tries again. Report it to a platform admin.',
      GitHubUnreachable: 'GitHub does not answer, or limits the rate of requests. The platform tries again.',
    },
    person: {
      InstallationNotReady: 'The Installation that `spec.installation` names does not exist or is not ready.',
      RepositoryNotFound: 'The repository was deleted, or the installation of the App does not reach it any more.',
      BranchNotFound:
        'The repository does not have the branch. Push it, or correct `spec.source.branch`. A repository without any commit has no default branch yet.',
      PullRequestClosed: 'The pull request is closed or merged. What was built before keeps serving; nothing more is built.',
      ApprovalMissing:
        'The commits of the pull request are in a fork, where people push who have no rights in the repository, and nobody who may write to the repository has approved the newest one. Nothing of it is fetched or built. Only previews of an AppPipeline can be approved.',
      NotATenantNamespace: 'The namespace does not belong to a Tenant, or its Tenant is not ready.',
      BuildSecretNotFound: 'An AppSecret that `spec.build.secrets` names does not exist. Create it, or remove it from the list.',
      ApplicationNotFound:
        'An Application that `spec.application` or `spec.otherApplications` names does not exist. Create it. Those of `otherApplications` that exist get the image meanwhile.',
      ApplicationTaken:
        'Another RemoteSync already sets the image of an Application that the spec names. Delete one of the two, or remove the name from one.',
      ApplicationFollowsTag:
        'An Application follows a tag (`spec.followTag`), so the image of the commit is not set on it. Remove that field, or delete the RemoteSync.',
    },
    failed: {
      PullRequestNotFound: 'The repository does not have a pull request with this number.',
      MergeConflict:
        'GitHub cannot merge the pull request into its base branch. Resolve the conflict on the branch of the pull request and push it. What was built before keeps serving.',
      CommitNotInRepository:
        'The commit is neither on the default branch of the repository nor the newest commit of another branch. GitHub also shows commits of forks, which are not built. Push a branch that ends at the commit.',
      CommitNotFound: 'GitHub does not have the commit, or does not have it any more.',
      SourceTooLarge:
        'The files of the commit exceed a limit of the platform: their size (`SEKISHO_SOURCE_MEGABYTES`), their number, the depth of folders, or what it takes to unpack them.',
      SourceMalformed:
        'The commit has objects that git refuses, such as a folder named `.git` or a harmful `.gitmodules`, or objects of it are missing. The message names the check and the object. Correct it and push a new commit.',
      SourceIncomplete:
        'The folder of the application has a submodule, or a file in Git LFS, neither of which is fetched. The message names it. Put the files into the repository itself, or set `spec.build.allowIncompleteSource` where the application does not need them.',
      BuildFailed:
        'The build failed. The message has the end of its log. Correct the cause and push again, or repeat it with `sekisho builds retry`.',
      BuildTimedOut: 'The build was ended after `spec.build.timeoutSeconds`.',
      BuiltFromWrongCommit:
        'The image names another commit than the requested one and is not used. Report it to a platform admin.',
      CommitNotProven: 'The image does not say which commit it was built from, and is not used. Report it to a platform admin.',
      BuildSettingRefused:
        'A field of `spec.build` names a builder that the platform does not have, or more resources than it gives to a build. The message names the field and what is possible.',
      ApplicationNotReady: 'The image was set on the Application, but the Application is not ready. The message has its reason.',
    },
    intended: {
      Suspended: 'No new commit is looked for or built, because `spec.suspend` is `true`. Set it to `false` to go on.',
      Pinned:
        'The image of the newest commit was built, but the Application runs the release that its `spec.pinnedRelease` names. Remove that field to run the newest commit.',
    },
  },
  { wrongCommit: 'BuiltFromWrongCommit', notATenant: 'NotATenantNamespace', unreachable: 'GitHubUnreachable' },
  followerReasonDefinitions,
  rightMissing,
  pacedByPlatform,
)

/** Reasons of the conditions. */
export const remoteSyncReasons = reasons.names

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
      source: sourceField,
      subPath: optional(subPathField),
      paths: optional(pathsField),
      build: buildField,
      report: optional(
        object(
          {
            environment: optional(
              text({
                description:
                  'The name of the environment on GitHub, such as `production`. The name of the Application when omitted.',
                max: 100,
                pattern: '^[A-Za-z0-9]([A-Za-z0-9 ._/-]*[A-Za-z0-9])?$',
              }),
            ),
          },
          {
            description:
              'Show on GitHub what becomes of each commit: a deployment with the URL and a status of the commit that leads to the build log. Set it to `{}` for the defaults. The grant then asks for `deployments: write` and `statuses: write`, too. Nothing is written when omitted.',
          },
        ),
      ),
      suspend: optional(
        flag({
          description:
            'Set it to `true` to look for no new commits and to build none. What runs goes on, a build that has begun ends and is used later.',
        }),
      ),
      retriedAt: optional(
        timestamp(
          'A change of this time gives the newest commit another attempt when its build failed, as any change of the RemoteSync does. `sekisho builds retry` sets it.',
        ),
      ),
      application: applicationField,
      otherApplications: optional(otherApplicationsField),
    },
    {
      description: 'Which commit of which repository is built, and where the image runs.',
      rules: [...subPathRules, ...applicationRules],
    },
  ),
  followsRepository: {
    // What a merge commit is made of: a push to the base branch makes another one.
    source: ({ source: { branch, pullRequest, mergeCommit, commit } }, status) => ({
      branch: mergeCommit === true ? status?.pullRequest?.baseBranch : branch,
      ...(branch !== undefined && status?.renamedBranch?.from === branch ? { renamedTo: status.renamedBranch.to } : {}),
      pullRequest,
      defaultBranch: branch === undefined && pullRequest === undefined && commit === undefined,
    }),
    permissions: ({ source, report }) => ({
      ...(source.pullRequest === undefined ? {} : { pull_requests: 'read' as const }),
      ...(report === undefined ? {} : { deployments: 'write' as const, statuses: 'write' as const }),
    }),
    purpose: ({ application }) => `builds Application ${application}`,
  },
  status: {
    ...followerStatusFields,
    commit: optional(text({ description: 'The commit that `spec.source` means now.', max: 64 })),
    ...sourceStatusFields,
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
          programs: optional(
            text({
              description:
                'A hash of the commands that the Application named when the build was begun. A build that failed is tried again when it names others.',
              max: 64,
            }),
          ),
          queue: optional(
            text({
              description:
                'While the build waits for its turn: its place among the builds of the tenant that wait, such as `3 of 5`. Places after the tenth are not counted.',
              max: 40,
            }),
          ),
        },
        { description: 'The current build, or the last one.' },
      ),
    ),
    unbuilt: optional(
      object(
        {
          commit: text({ description: 'The newest commit, which is not built.', max: 64 }),
          since: text({ description: 'The commit that was built last.', max: 64 }),
          skipped: optional(flag({ description: 'The message of the commit asks for it, such as by `[skip ci]`.' })),
        },
        {
          description:
            'Set when the newest commit is not built: nothing under `spec.paths` has changed since the commit that was built last, or its message says so.',
        },
      ),
    ),
    image: optional(text({ description: 'The image of the last successful build, by digest.', max: 512 })),
    imageCommit: optional(text({ description: 'The commit from which `image` was built.', max: 64 })),
    imageBuild: optional(text({ description: 'The name of the build that created `image`.', max: 253 })),
    applications: optional(deployedApplicationsField),
    runImage: optional(
      text({ description: 'The digest of the run image (of the operating system) below `image`, where it has one.', max: 128 }),
    ),
    imageBuilder: optional(
      object(
        {
          name: text({
            description: 'The name of its ClusterBuilder, or its image, as a platform admin configured the builder.',
            max: 512,
          }),
          stack: text({ description: 'The id of its stack.', max: 253 }),
        },
        { description: 'The builder that built `image`: only its newer run image replaces `runImage`.' },
      ),
    ),
    rebase: optional(rebaseField),
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
          deployedAt: optional(timestamp('When image and commit were set on every Application.')),
          availableAt: optional(timestamp('When the rollout of every Application was complete.')),
        },
        { description: 'When the newest commit passed each phase, in milliseconds unless stated otherwise.' },
      ),
    ),
  },
  conditions: {
    Resolved: 'GitHub was asked, under an approved grant, which commit `spec.source` means.',
    Fetched: 'The source of the commit was fetched from GitHub.',
    Built: 'The image was built from the commit.',
    Deployed: 'Image and commit were set on every Application that the spec names.',
    Ready: 'Every Application that the spec names runs the image of the newest commit.',
  },
  reasons,
  columns: [
    { name: 'Repository', type: 'string', jsonPath: '.spec.repository' },
    { name: 'Followed', type: 'string', jsonPath: '.status.repository.name', priority: 1 },
    { name: 'Commit', type: 'string', jsonPath: '.status.commit', priority: 1 },
    { name: 'Built', type: 'string', jsonPath: '.status.imageCommit', priority: 1 },
    { name: 'Queue', type: 'string', jsonPath: '.status.build.queue' },
    ...readyColumns,
    ageColumn,
  ],
  selectableFields: ['.spec.repository', '.spec.application'],
})

export type RemoteSync = ObjectOf<typeof remoteSync>
