// The current state and its file. A change applies at once; a snapshot then reaches the disk by write and rename, and
// concurrent changes share one write. It never decides what the state contains.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Credentials } from './credentials.ts'
import type { GitHubState } from './github-state.ts'

export type StateStore = {
  readonly state: GitHubState
  /** Applies a change and schedules its snapshot. The callback must be synchronous, so that no reader sees half a change. */
  change<Result>(apply: (state: GitHubState) => Result): Result
  /** Resolves when every change made so far is on disk; rejects when it could not be written. */
  durable(): Promise<void>
}

/** Reads a snapshot; `undefined` when there is none yet. Throws when another version of the emulator wrote it. */
export async function readState(file: string): Promise<GitHubState | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const state = JSON.parse(text) as GitHubState
  if (state.version !== 2) throw new Error(`${file} was written by another version of the emulator; delete its state folder`)
  return state
}

/** Deletes what has expired, so that the snapshot stays small. */
function dropExpired(credentials: Credentials, now: number): void {
  const tables: Record<string, { readonly expiresAt: number }>[] = [
    credentials.accessTokens,
    credentials.refreshTokens,
    credentials.codes,
    credentials.sessions,
  ]
  for (const table of tables) for (const [key, entry] of Object.entries(table)) if (entry.expiresAt <= now) delete table[key]
}

/** A store over `file`. `now` is milliseconds since the epoch. */
export function createStore(state: GitHubState, file: string, now: () => number): StateStore {
  let changed = 0
  let written = 0
  let writing: Promise<void> | undefined

  const write = async (): Promise<void> => {
    while (written < changed) {
      const upTo = changed
      dropExpired(state.credentials, now())
      const text = JSON.stringify(state)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(`${file}.next`, text, { mode: 0o600 })
      await rename(`${file}.next`, file)
      written = upTo
    }
  }

  return {
    state,
    change: apply => {
      const result = apply(state)
      changed += 1
      return result
    },
    durable: async () => {
      const wanted = changed
      while (written < wanted) {
        writing ??= write().finally(() => {
          writing = undefined
        })
        await writing
      }
    },
  }
}
