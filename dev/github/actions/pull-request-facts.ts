// Owns: what only git can say about a pull request. Reads; moves nothing.
import type { Context } from '../context.ts'
import type { Commit } from '../git/commit.ts'
import { changedFiles, type FileChange, mergeBase } from '../git/diff.ts'
import { mostRebased, rebased } from '../git/rebase.ts'
import { mergedTree } from '../git/write.ts'
import type { PullRequest } from '../state/repositories.ts'
import { userOf } from '../state/world.ts'
import type { PullRequestFacts } from '../views/pull-request.ts'

/** A pull request is not asked for more commits than GitHub shows. */
const mostCommits = 250

/** The files that the head changed since it left the base. */
export const pullRequestFiles = async ({ git }: Pick<Context, 'git'>, pull: PullRequest): Promise<readonly FileChange[]> => {
  const { base, head, repositoryId } = pull
  const forkedAt = await mergeBase(git, repositoryId, base.sha, head.sha)
  return changedFiles(git, repositoryId, forkedAt ?? base.sha, head.sha)
}

/** The commits of the head that the base does not have, oldest first. */
export const pullRequestCommits = async ({ git }: Pick<Context, 'git'>, pull: PullRequest): Promise<readonly Commit[]> =>
  [...(await git.commits(pull.repositoryId, pull.base.sha, pull.head.sha, mostCommits))].reverse()

/** Whether and how the head could go into the base now; nothing is known about a pull request that is closed. */
const mergeability = async (
  context: Pick<Context, 'git' | 'world' | 'now'>,
  pull: PullRequest,
  commits: readonly Commit[],
): Promise<Pick<PullRequestFacts, 'mergeable' | 'rebaseable'>> => {
  const { git } = context
  const { base, head, repositoryId } = pull
  if (pull.state !== 'open') return { mergeable: null, rebaseable: null }
  // A straight line of commits that begins at the base goes onto it as it is.
  const straight = commits[0]?.parents[0] === base.sha && commits.every(one => one.parents.length === 1)
  if (straight) return { mergeable: true, rebaseable: commits.length <= mostRebased }
  const mergeable = (await mergedTree(git, repositoryId, base.sha, head.sha)) !== undefined
  const committer = { who: userOf(context.world, pull.authorId), at: context.now() }
  const rebaseable = mergeable && (await rebased(git, repositoryId, base.sha, head.sha, committer)) !== undefined
  return { mergeable, rebaseable }
}

/** Commits, lines and mergeability of head against base as they are now. */
export const pullRequestFacts = async (
  context: Pick<Context, 'git' | 'world' | 'now'>,
  pull: PullRequest,
): Promise<PullRequestFacts> => {
  const [files, commits] = await Promise.all([pullRequestFiles(context, pull), pullRequestCommits(context, pull)])
  const sum = (count: (file: FileChange) => number): number => files.reduce((total, file) => total + count(file), 0)
  return {
    ...(await mergeability(context, pull, commits)),
    commits: commits.length,
    additions: sum(file => file.additions),
    deletions: sum(file => file.deletions),
    changedFiles: files.length,
  }
}
