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

export type ChangedFile = {
  readonly path: string
  /** Of a renamed or copied file. */
  readonly formerPath?: string
  readonly status: 'added' | 'removed' | 'modified' | 'renamed' | 'copied'
  /** The id of the content; of the former one when the file was removed. */
  readonly sha: string
  readonly additions: number
  readonly deletions: number
}

const statuses: Readonly<Record<string, ChangedFile['status']>> = { A: 'added', D: 'removed', R: 'renamed', C: 'copied' }

/** The files that differ between two commits, at most `limit`. */
export async function changedFiles(
  git: GitStore,
  repositoryId: number,
  range: { readonly from: string; readonly to: string },
  limit: number,
): Promise<readonly ChangedFile[]> {
  const ask = async (form: string): Promise<Iterator<string, undefined>> => {
    const words = ['diff', form, '--no-abbrev', '-z', '-M', '--end-of-options', range.from, range.to]
    return (await git.run(words, { cwd: git.pathOf(repositoryId) })).split('\0').values()
  }
  const [raw, counts] = [await ask('--raw'), await ask('--numstat')]
  const files: ChangedFile[] = []
  for (let line = word(raw); line !== '' && files.length < limit; line = word(raw)) files.push(readFile(line, raw, counts))
  return files
}

function word(words: Iterator<string, undefined>): string {
  return words.next().value ?? ''
}

/** `line`: the first word of a file in `--raw -z`; its names follow, and its counts are the next ones of `--numstat -z`. */
function readFile(line: string, raw: Iterator<string, undefined>, counts: Iterator<string, undefined>): ChangedFile {
  const [, , before = '', after = '', letter = ''] = line.split(' ')
  const [additions, deletions] = word(counts).split('\t')
  const [first, second] = /^[RC]/.test(letter) ? [word(raw), word(raw)] : [word(raw)]
  // git writes both names of a moved file after its counts, too.
  if (second !== undefined) for (const _ of [first, second]) counts.next()
  return {
    ...(second === undefined ? { path: first } : { path: second, formerPath: first }),
    status: statuses[letter[0] ?? ''] ?? 'modified',
    sha: letter === 'D' ? before : after,
    additions: Number(additions) || 0,
    deletions: Number(deletions) || 0,
  }
}

/** The best common ancestor of two commits; `undefined` when their histories are unrelated. */
export async function mergeBase(git: GitStore, repositoryId: number, left: string, right: string): Promise<string | undefined> {
  const found = await git.ask(repositoryId, ['merge-base', '--end-of-options', left, right])
  return found?.trim()
}
