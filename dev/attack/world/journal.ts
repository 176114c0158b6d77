// What a run made, on disk before it is made, so that the end of the run, or the next run after a crash, deletes exactly that,
// by name.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Made = { readonly kind: 'object' | 'manifest'; readonly path: string }

export type Journal = {
  /** Rejects when it cannot be written: then nothing may be made. */
  readonly note: (made: Made) => Promise<void>
  /** The newest first. */
  readonly all: () => readonly Made[]
  readonly clear: () => Promise<void>
}

/** Opens the journal of this folder, with what an earlier run may have left in it. */
export async function openJournal(folder: string): Promise<Journal> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'made.json')
  const made = new Map<string, Made>()
  for (const entry of await readMade(file)) made.set(entry.path, entry)
  let writing = Promise.resolve()
  const write = (): Promise<void> => {
    const next = writing.then(async () => {
      await writeFile(`${file}.new`, JSON.stringify([...made.values()]))
      await rename(`${file}.new`, file)
    })
    writing = next.catch(() => {}) // the caller of `next` sees the failure; the next write tries again with everything
    return next
  }
  return {
    note(entry) {
      if (made.has(entry.path)) return Promise.resolve()
      made.set(entry.path, entry)
      return write()
    },
    all: () => [...made.values()].reverse(),
    async clear() {
      made.clear()
      await writing
      await rm(file, { force: true })
    },
  }
}

async function readMade(file: string): Promise<readonly Made[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
