// The fields of a RemoteSync that say which commit is deployed: what a person asks for, and what the platform knows about a
// pull request and about an image that was promoted.
import { commitId, numericId, timestamp } from '../../schema/fields.ts'
import { atMostOneOf, flag, integer, object, optional, text } from '../../schema/schema.ts'

const pullRequestNumber = { min: 1, max: 2_147_483_647 }

/** `spec.source`. */
export const sourceField = object(
  {
    branch: optional(
      text({
        description:
          'Follow the newest commit of this branch, such as `main`, also when GitHub renames it. A commit whose message contains `[skip ci]` is not built. When `branch`, `pullRequest` and `commit` are all omitted, the default branch of the repository is followed, also when it changes.',
        max: 255,
        pattern: '^[^ ~^:?*\\[\\\\]+$',
      }),
    ),
    pullRequest: optional(
      integer({
        description:
          'Follow the newest commit of the pull request with this number. When the commits are in a fork, each one needs a PreviewApproval.',
        ...pullRequestNumber,
      }),
    ),
    mergeCommit: optional(
      flag({
        description:
          'With `pullRequest`: deploy what merging the pull request into its base branch would give (the merge commit that GitHub makes for this, `refs/pull/<number>/merge`) instead of its newest commit.',
      }),
    ),
    commit: optional(commitId('Stay at this commit, given by its full id.')),
  },
  {
    description:
      'Which commit to deploy. At most one of `branch`, `pullRequest` and `commit` may be set; `{}` follows the default branch of the repository.',
    default: {},
    rules: [
      atMostOneOf(['branch', 'pullRequest', 'commit'], 'source must set at most one of branch, pullRequest, commit'),
      {
        rule: '!has(self.mergeCommit) || !self.mergeCommit || has(self.pullRequest)',
        message: 'source.mergeCommit is about a pull request: set source.pullRequest too, or remove source.mergeCommit',
        fieldPath: '.mergeCommit',
      },
    ],
  },
)

/** Fields of `status`. */
export const sourceStatusFields = {
  pullRequest: optional(
    object(
      {
        number: integer({ description: 'Its number.', ...pullRequestNumber }),
        headCommit: text({ description: 'The newest commit of the pull request.', max: 64 }),
        headRepository: optional(
          numericId('The numeric id of the repository that the commits are in. Absent when that repository was deleted.'),
        ),
        baseBranch: text({ description: 'The branch into which the pull request is to be merged.', max: 300 }),
        baseCommit: optional(
          text({
            description:
              'With `mergeCommit`: the commit of the base branch that the merge commit was made of, or that the pull request conflicts with.',
            max: 64,
          }),
        ),
        mergePendingSince: optional(
          timestamp('Set while GitHub has not computed the merge commit: since when the platform waits for it.'),
        ),
        conflictSince: optional(
          timestamp('Set while `headCommit` conflicts with `baseCommit`: when GitHub first said so of these two.'),
        ),
      },
      { description: 'The pull request that `spec.source` names, as GitHub described it when it was last asked.' },
    ),
  ),
  renamedBranch: optional(
    object(
      {
        from: text({ description: 'The value of `spec.source.branch`.', max: 255 }),
        to: text({ description: 'The present name of the branch.', max: 300 }),
      },
      {
        description:
          'Set when GitHub has renamed the branch that `spec.source.branch` names. It is followed under its new name until another branch gets the former one.',
      },
    ),
  ),
  tree: optional(text({ description: 'The git tree of `commit`, where it was needed.', max: 64 })),
  imageSource: optional(
    object(
      {
        repository: numericId('The numeric id of the repository.'),
        pullRequest: integer({ description: 'The number of the pull request.', ...pullRequestNumber }),
        tree: text({ description: 'The git tree of `imageCommit`: commits with the same tree have the same files.', max: 64 }),
        inputs: text({ description: 'A hash of the build settings.', max: 64 }),
      },
      {
        description:
          'What `image` was built from, when that was a pull request whose commits are in the repository itself. A RemoteSync of a branch takes the image when the branch has the same files and the build settings are the same.',
      },
    ),
  ),
  promoted: optional(
    object(
      {
        commit: text({ description: 'The commit that was not built.', max: 64 }),
        from: text({
          description: 'The commit of the pull request from which `image` was built. It has the same files.',
          max: 64,
        }),
        pullRequest: integer({ description: 'The number of the pull request.', ...pullRequestNumber }),
        inputs: text({ description: 'A hash of the build settings, which were the same.', max: 64 }),
      },
      { description: 'Set when the image of a preview was taken instead of a build.' },
    ),
  ),
}
