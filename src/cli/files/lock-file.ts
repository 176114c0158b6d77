// A lock for one login or refresh at a time per issuer, across all processes of the user: a refresh token works once, and
// twenty kubectl must not open twenty browsers. The lock file contains the id of its process; the lock of a process that has
// ended is taken over.
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { readTextFile } from './private-file.ts'

const pollMilliseconds = 100
/** Of waiting, after which it is said: processes of one command take turns, which nobody has to know. */
const unsaidAttempts = 20

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

async function tryTake(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(String(process.pid))
    await file.close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const holder = await readTextFile(path)
  // Empty: its process has not written the file yet, or ended before it did; the caller waits.
  if (holder === undefined || holder === '') return false
  const pid = Number(holder)
  return !Number.isInteger(pid) || !isAlive(pid)
}

/**
 * One of several waiting processes removes the file, after a second check: otherwise one could remove the lock of the next
 * holder.
 */
async function dropAbandoned(path: string): Promise<void> {
  const removal = `${path}.removal`
  if (!(await isAbandoned(path)) || !(await tryTake(removal))) return
  try {
    if (await isAbandoned(path)) await rm(path, { force: true })
  } finally {
    await rm(removal, { force: true })
  }
}

/**
 * Runs `work` while holding the lock, and releases it also when `work` rejects. Rejects with `unavailable`, which names the
 * file, when another process holds the lock for longer than `waitMilliseconds`.
 */
export async function withLockFile<T>(
  path: string,
  options: { readonly clock: Clock; readonly waitMilliseconds: number; readonly onWaiting: () => void },
  work: () => Promise<T>,
): Promise<T> {
  const { clock, waitMilliseconds } = options
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const deadline = clock.now().getTime() + waitMilliseconds
  for (let attempt = 0; !(await tryTake(path)); attempt += 1) {
    if (attempt === unsaidAttempts) options.onWaiting()
    await dropAbandoned(path)
    if (clock.now().getTime() > deadline)
      throw new AppError(
        'unavailable',
        `another sekisho process has held the login lock for too long: end it, or remove ${path} and ${path}.removal`,
      )
    await clock.sleep(pollMilliseconds)
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}
