// The difference between two commits, from git.
import type { GitStore } from './store.ts'

export type ChangeSize = { readonly additions: number; readonly deletions: number; readonly changedFiles: number }

/** How many lines and files differ between two commits. A binary file counts as a file without lines. */
export async function changeSize(git: GitStore, repositoryId: number, from: string, to: string): Promise<ChangeSize> {
  const text = await git.run(['diff', '--numstat', '--end-of-options', from, to], { cwd: git.pathOf(repositoryId) })
  const files = text.split('\n').filter(line => line !== '')
  const sum = (column: number): number => files.reduce((total, line) => total + (Number(line.split('\t')[column]) || 0), 0)
  return { additions: sum(0), deletions: sum(1), changedFiles: files.length }
}

/** The best common ancestor of two commits; `undefined` when their histories are unrelated. */
export async function mergeBase(git: GitStore, repositoryId: number, left: string, right: string): Promise<string | undefined> {
  const found = await git.ask(repositoryId, ['merge-base', '--end-of-options', left, right])
  return found?.trim()
}
