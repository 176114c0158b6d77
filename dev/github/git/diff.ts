// Owns: what changed between two trees, file by file, as git tells it. Never decides which two.
import type { GitStore } from './store.ts'

export type FileChange = {
  readonly path: string
  /** Of a renamed file. */
  readonly previousPath: string | undefined
  readonly status: 'added' | 'removed' | 'modified' | 'renamed' | 'copied' | 'changed'
  /** Blob after the change; of a removed file the blob before. */
  readonly sha: string
  readonly additions: number
  readonly deletions: number
  /** The hunks; absent for binary files and pure renames. */
  readonly patch: string | undefined
}

/** The tree without anything in it, which every git repository knows. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

const statuses: Readonly<Record<string, FileChange['status']>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
}

type RawChange = Pick<FileChange, 'path' | 'previousPath' | 'status' | 'sha'>

/** `git diff --raw -z`: `:mode mode sha sha status`, NUL, path, and the new path of a rename. */
const parseRaw = (text: string): readonly RawChange[] => {
  const fields = text.split('\0')
  const changes: RawChange[] = []
  for (let at = 0; at + 1 < fields.length; ) {
    const [, , before = '', after = '', letter = ''] = (fields[at] ?? '').split(' ')
    const status = statuses[letter.charAt(0)] ?? 'modified'
    const two = status === 'renamed' || status === 'copied'
    const first = fields[at + 1] ?? ''
    changes.push({
      path: two ? (fields[at + 2] ?? '') : first,
      previousPath: two ? first : undefined,
      status,
      sha: status === 'removed' ? before : after,
    })
    at += two ? 3 : 2
  }
  return changes
}

/** One text per file, in the order of the raw list; from the first hunk on. */
const splitPatches = (text: string): readonly (string | undefined)[] =>
  text
    .split(/^diff --git .*$/m)
    .slice(1)
    .map(one => {
      const hunk = one.search(/^@@ /m)
      return hunk < 0 ? undefined : one.slice(hunk).replace(/\n$/, '')
    })

const countLines = (patch: string | undefined, mark: '+' | '-'): number =>
  patch === undefined ? 0 : patch.split('\n').filter(line => line.startsWith(mark)).length

/** The files that differ from `from` (`undefined`: nothing at all) to `to`, both commit or tree ids. */
export const changedFiles = async (
  git: GitStore,
  repositoryId: number,
  from: string | undefined,
  to: string,
): Promise<readonly FileChange[]> => {
  const cwd = git.pathOf(repositoryId)
  const range = ['--end-of-options', from ?? emptyTree, to]
  const [raw, patches] = await Promise.all([
    git.run(['diff', '--find-renames', '--raw', '-z', '--no-abbrev', ...range], { cwd }),
    git.run(['diff', '--find-renames', '--patch', '--no-color', '--no-ext-diff', ...range], { cwd }),
  ])
  const texts = splitPatches(patches)
  return parseRaw(raw).map((change, at) => ({
    ...change,
    patch: texts[at],
    additions: countLines(texts[at], '+'),
    deletions: countLines(texts[at], '-'),
  }))
}

/** The best common ancestor of two commits; `undefined` when their histories never met. */
export const mergeBase = async (
  git: GitStore,
  repositoryId: number,
  left: string,
  right: string,
): Promise<string | undefined> => {
  const found = await git.ask(repositoryId, ['merge-base', '--end-of-options', left, right])
  return found?.trim()
}
