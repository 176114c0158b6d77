// Owns: what only git can say about a pull request. Reads; never writes.
import type { Context } from '../context.ts'
import { mergedTree } from '../git/write.ts'
import type { PullRequest } from '../state/repositories.ts'
import type { PullRequestFacts } from '../views/pull-request.ts'

/** A pull request is not asked for more commits than GitHub shows. */
const mostCommits = 250

const countLines = (text: string): Pick<PullRequestFacts, 'additions' | 'deletions' | 'changedFiles'> => {
  const rows = text
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.split('\t'))
  // A binary file has `-` instead of numbers.
  const sum = (column: number): number => rows.reduce((total, row) => total + (Number.parseInt(row[column] ?? '', 10) || 0), 0)
  return { additions: sum(0), deletions: sum(1), changedFiles: rows.length }
}

/** Commits, lines and mergeability of head against base as they are now. */
export const pullRequestFacts = async ({ git }: Pick<Context, 'git'>, pull: PullRequest): Promise<PullRequestFacts> => {
  const { base, head, repositoryId } = pull
  const diff = await git.run(['diff', '--numstat', '--end-of-options', `${base.sha}...${head.sha}`], {
    cwd: git.pathOf(repositoryId),
  })
  const commits = await git.commits(repositoryId, base.sha, head.sha, mostCommits)
  const mergeable = pull.state === 'open' ? (await mergedTree(git, repositoryId, base.sha, head.sha)) !== undefined : null
  return { mergeable, commits: commits.length, ...countLines(diff) }
}
