// Why a RemoteSync is as it is: the reasons of its conditions.
import { failed, intended, machine, person, progress, ready, rightMissing } from '../reasons/reason.ts'
import { followerReasonDefinitions } from '../repository-follower.ts'

export const remoteSyncReasonDefinitions = {
  done: ready('Done', 'The stage is complete.'),
  deployed: ready(
    'Deployed',
    'The Application runs the commit that was the newest when GitHub was last asked: at a webhook, or at the periodic check.',
  ),
  promoted: ready(
    'Promoted',
    'The Application runs the image of a pull request whose files are exactly those of the newest commit. Nothing was built again.',
  ),
  pathsUnchanged: ready(
    'PathsUnchanged',
    'The Application runs the commit that was built last, and nothing under `spec.paths` has changed since. The newest commit is not built.',
  ),
  ...followerReasonDefinitions,
  installationNotReady: person(
    'InstallationNotReady',
    'The Installation that `spec.installation` names does not exist or is not ready.',
  ),
  repositoryNotFound: person(
    'RepositoryNotFound',
    'The repository was deleted, or the installation of the App does not reach it any more.',
  ),
  branchNotFound: person(
    'BranchNotFound',
    'The repository does not have the branch. Push it, or correct `spec.source.branch`. A repository without any commit has no default branch yet.',
  ),
  pullRequestNotFound: failed('PullRequestNotFound', 'The repository does not have a pull request with this number.'),
  pullRequestClosed: person(
    'PullRequestClosed',
    'The pull request is closed or merged. What was built before keeps serving; nothing more is built.',
  ),
  approvalMissing: person(
    'ApprovalMissing',
    'The commits of the pull request are in a fork, where people push who have no rights in the repository, and nobody who may write to the repository has approved the newest one. Nothing of it is fetched or built. Only previews of an AppPipeline can be approved.',
  ),
  mergeConflict: failed(
    'MergeConflict',
    'GitHub cannot merge the pull request into its base branch. Resolve the conflict on the branch of the pull request and push it. What was built before keeps serving.',
  ),
  mergePending: progress(
    'MergePending',
    'GitHub has not computed yet what merging the pull request would give. The platform asks again, with growing waits.',
  ),
  commitNotInRepository: failed(
    'CommitNotInRepository',
    'The commit is neither on the default branch of the repository nor the newest commit of another branch. GitHub also shows commits of forks, which are not built. Push a branch that ends at the commit.',
  ),
  commitNotFound: failed('CommitNotFound', 'GitHub does not have the commit, or does not have it any more.'),
  sourceTooLarge: failed(
    'SourceTooLarge',
    'The files of the commit exceed a limit of the platform: their size (`SEKISHO_SOURCE_MEGABYTES`), their number, the depth of folders, or what it takes to unpack them.',
  ),
  sourceMalformed: failed(
    'SourceMalformed',
    'The commit has objects that git refuses, such as a folder named `.git` or a harmful `.gitmodules`, or objects of it are missing. The message names the check and the object. Correct it and push a new commit.',
  ),
  sourceIncomplete: failed(
    'SourceIncomplete',
    'The folder of the application has a submodule, or a file in Git LFS, neither of which is fetched. The message names it. Put the files into the repository itself, or set `spec.build.allowIncompleteSource` where the application does not need them.',
  ),
  fetchFailed: machine('FetchFailed', 'The source could not be fetched from GitHub. The platform tries again.'),
  queued: progress(
    'Queued',
    'As many builds are running as the tenant or the platform may run at once. The build starts when one of them ends.',
  ),
  fetching: progress('Fetching', 'The source is being fetched from GitHub.'),
  building: progress('Building', 'The build is running.'),
  buildFailed: failed('BuildFailed', 'The build failed. The message has the end of its log. Correct the cause and push again.'),
  buildTimedOut: failed('BuildTimedOut', 'The build was ended after `spec.build.timeoutSeconds`.'),
  wrongCommit: failed(
    'BuiltFromWrongCommit',
    'The image names another commit than the requested one and is not used. Report it to a platform admin.',
  ),
  commitNotProven: failed(
    'CommitNotProven',
    'The image does not say which commit it was built from, and is not used. Report it to a platform admin.',
  ),
  registryUnreachable: machine(
    'RegistryUnreachable',
    'The image cannot be read from the registry, so its commit is not proven yet. The platform tries again.',
  ),
  suspended: intended(
    'Suspended',
    'No new commit is looked for or built, because `spec.suspend` is `true`. Set it to `false` to go on.',
  ),
  notATenant: person('NotATenantNamespace', 'The namespace does not belong to a Tenant, or its Tenant is not ready.'),
  builderNotReady: machine(
    'BuilderNotReady',
    'The build system refused the build, or is not installed. The platform tries again. Report it to a platform admin.',
  ),
  rightMissing,
  buildSettingRefused: failed(
    'BuildSettingRefused',
    'A field of `spec.build` names a builder that the platform does not have, or more resources than it gives to a build. The message names the field and what is possible.',
  ),
  buildSecretNotFound: person(
    'BuildSecretNotFound',
    'An AppSecret that `spec.build.secrets` names does not exist. Create it, or remove it from the list.',
  ),
  applicationNotFound: person('ApplicationNotFound', 'The Application that `spec.application` names does not exist. Create it.'),
  applicationTaken: person(
    'ApplicationTaken',
    'Another RemoteSync already sets the image of this Application. Delete one of the two.',
  ),
  applicationFollowsTag: person(
    'ApplicationFollowsTag',
    'The Application follows a tag (`spec.followTag`), so the image of the commit is not set on it. Remove that field, or delete the RemoteSync.',
  ),
  applicationNotReady: failed(
    'ApplicationNotReady',
    'The image was set on the Application, but the Application is not ready. The message has its reason.',
  ),
  pinned: intended(
    'Pinned',
    'The image of the newest commit was built, but the Application runs the release that its `spec.pinnedRelease` names. Remove that field to run the newest commit.',
  ),
  rollingOut: progress(
    'RollingOut',
    'The Application is starting the new image. Until it is ready, the earlier version keeps serving.',
  ),
  unreachable: machine('GitHubUnreachable', 'GitHub does not answer, or limits the rate of requests. The platform tries again.'),
}
