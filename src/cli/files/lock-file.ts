// One login or refresh at a time per issuer, over all processes of the person: a refresh token works once, and twenty kubectl must not
// open twenty browsers. The lock names its process; one whose process is gone is taken over.
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { readTextFile } from './private-file.ts'

const pollMilliseconds = 100

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives, but belongs to somebody else.
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
  // Empty: its process is between creating and writing it, or died there; the wait below decides.
  if (holder === undefined || holder === '') return false
  const pid = Number(holder)
  return !Number.isInteger(pid) || !isAlive(pid)
}

/** Of several that see it abandoned one removes it, after another look: else the last would remove the lock of whoever took it next. */
async function dropAbandoned(path: string): Promise<void> {
  const removal = `${path}.removal`
  if (!(await isAbandoned(path)) || !(await tryTake(removal))) return
  try {
    if (await isAbandoned(path)) await rm(path, { force: true })
  } finally {
    await rm(removal, { force: true })
  }
}

export async function withLockFile<T>(
  path: string,
  options: { readonly clock: Clock; readonly waitMilliseconds: number; readonly onWaiting: () => void },
  work: () => Promise<T>,
): Promise<T> {
  const { clock, waitMilliseconds } = options
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const deadline = clock.now().getTime() + waitMilliseconds
  for (let attempt = 0; !(await tryTake(path)); attempt += 1) {
    if (attempt === 0) options.onWaiting()
    await dropAbandoned(path)
    if (clock.now().getTime() > deadline)
      throw new AppError(
        'unavailable',
        `another sekisho has been signing in for long: end it, or remove ${path} and ${path}.removal`,
      )
    await clock.sleep(pollMilliseconds)
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}
