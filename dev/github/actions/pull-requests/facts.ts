// What only git knows about a pull request. It moves no ref.
import { changeSize, mergeBase } from '../../git/diff.ts'
import { mergedTree } from '../../git/write.ts'
import type { PullRequest } from '../../state/repositories.ts'
import type { PullRequestFacts } from '../../views/pull-request.ts'
import type { ActionContext } from '../context.ts'

/** GitHub counts no more commits of a pull request than this. */
const mostCommits = 250

/** The present commits, lines and mergeability of head against base; the mergeability of a closed pull request is unknown. */
export async function pullRequestFacts({ git }: Pick<ActionContext, 'git'>, pull: PullRequest): Promise<PullRequestFacts> {
  const { base, head, repositoryId } = pull
  const forkedAt = (await mergeBase(git, repositoryId, base.sha, head.sha)) ?? base.sha
  const [size, commits, tree] = await Promise.all([
    changeSize(git, repositoryId, forkedAt, head.sha),
    git.commits(repositoryId, base.sha, head.sha, mostCommits),
    pull.state === 'open' ? mergedTree(git, repositoryId, base.sha, head.sha) : undefined,
  ])
  return { ...size, commits: commits.length, mergeable: pull.state === 'open' ? tree !== undefined : null }
}
