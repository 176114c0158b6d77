// Where one commit stands in relation to another. https://docs.github.com/en/rest/commits/commits#compare-two-commits
import type { Commit } from '../../git/commit.ts'
import { type ChangedFile, changedFiles, mergeBase } from '../../git/diff.ts'
import type { Repository } from '../../state/repositories.ts'
import type { ActionContext } from '../context.ts'

export type Comparison = {
  /** The best common ancestor. */
  readonly common: string
  /** Commits of the head that the base does not have, newest first. */
  readonly ahead: readonly Commit[]
  readonly behindBy: number
  readonly status: 'identical' | 'ahead' | 'behind' | 'diverged'
}

export type { ChangedFile }

/** GitHub lists no more files of a comparison than this. */
const maxFiles = 300

/** GitHub counts no further. */
const maxCommits = 10_000

function statusOf(aheadBy: number, behindBy: number): Comparison['status'] {
  if (aheadBy === 0) return behindBy === 0 ? 'identical' : 'behind'
  return behindBy === 0 ? 'ahead' : 'diverged'
}

/** `undefined` when the two commits have no common ancestor. */
export async function compareCommits(
  { git }: Pick<ActionContext, 'git'>,
  { id }: Repository,
  base: string,
  head: string,
): Promise<Comparison | undefined> {
  const common = await mergeBase(git, id, base, head)
  if (common === undefined) return undefined
  const [ahead, behind] = await Promise.all([git.commits(id, base, head, maxCommits), git.commits(id, head, base, maxCommits)])
  return { common, ahead, behindBy: behind.length, status: statusOf(ahead.length, behind.length) }
}

/** The files that differ between two commits. */
export function comparedFiles(
  { git }: Pick<ActionContext, 'git'>,
  { id }: Repository,
  range: { readonly from: string; readonly to: string },
): Promise<readonly ChangedFile[]> {
  return changedFiles(git, id, range, maxFiles)
}
