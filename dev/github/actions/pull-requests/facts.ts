// What only git knows about a pull request. It moves no ref.
import { changeSize, mergeBase } from '../../git/diff.ts'
import type { PullRequest } from '../../state/repositories.ts'
import type { PullRequestFacts } from '../../views/pull-requests/pull-request.ts'
import type { ActionContext } from '../context.ts'
import { currentTest } from './merge-test.ts'

/** GitHub counts no more commits of a pull request than this. */
const maxCommits = 250

/** The present commits and lines of head against base, and the mergeability as far as it was tested. */
export async function pullRequestFacts({ git }: Pick<ActionContext, 'git'>, pull: PullRequest): Promise<PullRequestFacts> {
  const { base, head, repositoryId } = pull
  const mergeable = currentTest(pull)?.mergeable ?? null
  const forkedAt = (await mergeBase(git, repositoryId, base.sha, head.sha)) ?? base.sha
  const [size, commits] = await Promise.all([
    changeSize(git, repositoryId, forkedAt, head.sha),
    git.commits(repositoryId, base.sha, head.sha, maxCommits),
  ])
  return { ...size, commits: commits.length, mergeable }
}
