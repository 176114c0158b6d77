// When each part of the long tests passed last, and a whole `make test`, and on which commit: committed, so that everybody sees
// how old it is (docs/reference/long-tests.json).
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

type PartRecord = {
  readonly commit: string
  /** RFC 3339, of its end. */
  readonly at: string
  readonly seconds: number
}

/** The name of the record of a `make test` of which every stage passed. */
export const wholeRun = 'make test'

/** By the names of the parts, and `wholeRun`. */
export type PartRecords = Readonly<Record<string, PartRecord>>

const recordsFile = 'docs/reference/long-tests.json'
const millisecondsOfDay = 86_400_000

async function git(repository: string, ...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: repository })).stdout.trim()
}

/**
 * The commit of the checkout; undefined when files differ from it, or outside of a repository. The records themselves may
 * differ.
 */
export async function cleanCommit(repository: string): Promise<string | undefined> {
  try {
    const changed = (await git(repository, 'status', '--porcelain', '--', '.', `:!${recordsFile}`)) !== ''
    return changed ? undefined : await git(repository, 'rev-parse', 'HEAD')
  } catch {
    return undefined
  }
}

export async function readRecords(repository: string): Promise<PartRecords> {
  return JSON.parse(await readFile(join(repository, recordsFile), 'utf8')) as PartRecords
}

export async function recordPart(repository: string, name: string, record: PartRecord): Promise<void> {
  const records: PartRecords = { ...(await readRecords(repository)), [name]: record }
  const sorted = Object.fromEntries(Object.entries(records).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  await writeFile(join(repository, recordsFile), `${JSON.stringify(sorted, null, 2)}\n`)
}

/** A line for each part: how many days ago it passed, or that it never did. */
export function ageLines(names: readonly string[], records: PartRecords, now: Date): readonly string[] {
  return names.map(name => {
    const record = records[name]
    if (record === undefined) return `long: ${name} has not passed yet: make test-long PART=${name}`
    const days = Math.floor((now.getTime() - Date.parse(record.at)) / millisecondsOfDay)
    const ago = days === 0 ? 'today' : days === 1 ? 'yesterday' : `${days} days ago`
    return `long: ${name} passed ${ago} on ${record.commit.slice(0, 12)}, in ${Math.round(record.seconds / 60)} min`
  })
}
