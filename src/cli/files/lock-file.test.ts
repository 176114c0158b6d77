import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { settle } from '../../lib/testing/fake-clock.ts'
import { withLockFile } from './lock-file.ts'

async function lockPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lock-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'tokens.lock')
}
const options = { clock: systemClock, waitMilliseconds: 10_000, onWaiting: () => {} }

test('one process at a time, also when the work fails', async () => {
  const path = await lockPath()
  let [inside, most] = [0, 0]
  const work = async (): Promise<void> => {
    inside += 1
    most = Math.max(most, inside)
    await settle()
    inside -= 1
    throw new Error('failed')
  }
  const all = await Promise.allSettled(Array.from({ length: 4 }, () => withLockFile(path, options, work)))
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected'])
  expect(most).toBe(1)
})

test('the lock of a process that has ended is taken over', async () => {
  const path = await lockPath()
  await writeFile(path, '999999999')
  expect(await withLockFile(path, options, async () => 'done')).toBe('done')
})

test('several that find the lock of an ended process still run one at a time', async () => {
  // The steps interleave in every order: one that checked early may act late.
  const clock = { ...systemClock, sleep: () => new Promise<void>(resolve => setImmediate(resolve)) }
  for (let round = 0; round < 20; round += 1) {
    const path = await lockPath()
    await writeFile(path, '999999999')
    let [inside, most] = [0, 0]
    const work = async (): Promise<void> => {
      inside += 1
      most = Math.max(most, inside)
      for (let step = 0; step < 5; step += 1) await readFile(path)
      inside -= 1
    }
    await Promise.all(Array.from({ length: 12 }, () => withLockFile(path, { ...options, clock }, work)))
    expect(most).toBe(1)
  }
})

test('an error after too long a wait names the file', async () => {
  const path = await lockPath()
  await writeFile(path, String(process.pid))
  await expect(withLockFile(path, { ...options, waitMilliseconds: 50 }, async () => 'done')).rejects.toThrow(path)
})

test('a wait is said once, when it is longer than the turns of one command', async () => {
  const path = await lockPath()
  await writeFile(path, String(process.pid))
  let [sleeps, said] = [0, 0]
  const endAfter = (turns: number) => ({
    ...options,
    clock: {
      ...systemClock,
      sleep: async () => {
        sleeps += 1
        if (sleeps === turns) await rm(path)
      },
    },
    onWaiting: () => {
      said += 1
    },
  })
  await withLockFile(path, endAfter(10), async () => undefined)
  expect(said).toBe(0)
  await writeFile(path, String(process.pid))
  sleeps = 0
  await withLockFile(path, endAfter(50), async () => undefined)
  expect(said).toBe(1)
})
