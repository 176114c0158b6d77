// Owns: what changed between two commits as text that other tools read: a diff, or a series of patches as e-mails. Never decides which two.
import type { GitStore } from './store.ts'

/** The tree without anything in it, which every git repository knows. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** One diff from `from` (`undefined`: nothing at all) to `to`. */
export const diffText = (git: GitStore, repositoryId: number, from: string | undefined, to: string): Promise<string> =>
  git.run(['diff', '--no-color', '--no-ext-diff', '--find-renames', '--end-of-options', from ?? emptyTree, to], {
    cwd: git.pathOf(repositoryId),
  })

/** One e-mail for each commit that `to` has and `from` has not, oldest first; only `to` itself without `from`. */
export const patchText = (git: GitStore, repositoryId: number, from: string | undefined, to: string): Promise<string> =>
  git.run(
    [
      'format-patch',
      '--stdout',
      '--no-color',
      ...(from === undefined ? ['-1'] : []),
      '--end-of-options',
      from === undefined ? to : `${from}..${to}`,
    ],
    { cwd: git.pathOf(repositoryId) },
  )
