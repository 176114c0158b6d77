// Owns: what only git can say about a pull request. Reads; moves nothing.
import type { Context } from '../context.ts'
import { changedFiles, type FileChange, mergeBase } from '../git/diff.ts'
import { rebased } from '../git/rebase.ts'
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
export const pullRequestCommits = async ({ git }: Pick<Context, 'git'>, pull: PullRequest) =>
  [...(await git.commits(pull.repositoryId, pull.base.sha, pull.head.sha, mostCommits))].reverse()

/** Commits, lines and mergeability of head against base as they are now. */
export const pullRequestFacts = async (
  context: Pick<Context, 'git' | 'world' | 'now'>,
  pull: PullRequest,
): Promise<PullRequestFacts> => {
  const { git } = context
  const { base, head, repositoryId } = pull
  const files = await pullRequestFiles(context, pull)
  const commits = await pullRequestCommits(context, pull)
  const open = pull.state === 'open'
  const mergeable = open ? (await mergedTree(git, repositoryId, base.sha, head.sha)) !== undefined : null
  const committer = { who: userOf(context.world, pull.authorId), at: context.now() }
  const rebaseable = mergeable && (await rebased(git, repositoryId, base.sha, head.sha, committer)) !== undefined
  const sum = (count: (file: FileChange) => number): number => files.reduce((total, file) => total + count(file), 0)
  return {
    mergeable,
    rebaseable,
    commits: commits.length,
    additions: sum(file => file.additions),
    deletions: sum(file => file.deletions),
    changedFiles: files.length,
  }
}
