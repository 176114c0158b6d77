// The limit on work in progress: its bounds, and the turns of the keys.
import { expect, test } from 'vitest'
import { settle } from '../testing/fake-clock.ts'
import { createFairLimit } from './fair-limit.ts'

test('a key with a full queue delays another key by one turn, and what does not fit is refused', async () => {
  const limit = createFairLimit({ concurrency: 1, waitingPerKey: 3, waiting: 5 })
  const started: string[] = []
  const ends: (() => void)[] = []
  const run = (key: string): boolean => {
    const work = (): Promise<void> => {
      started.push(key)
      return new Promise(resolve => ends.push(resolve))
    }
    return limit.run(key, work) !== undefined
  }
  expect(['flood', 'flood', 'flood', 'flood', 'flood'].map(run)).toEqual([true, true, true, true, false])
  expect([run('other'), run('other'), run('third')]).toEqual([true, true, false])
  for (let turn = 0; turn < 6; turn++) {
    await settle()
    ends.shift()?.()
  }
  await settle()
  expect(started).toEqual(['flood', 'flood', 'other', 'flood', 'other', 'flood'])
  expect(run('third')).toBe(true)
})

test('work that fails frees its place', async () => {
  const limit = createFairLimit({ concurrency: 1, waitingPerKey: 1, waiting: 1 })
  await expect(limit.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await expect(limit.run('a', async () => 1)).resolves.toBe(1)
})
