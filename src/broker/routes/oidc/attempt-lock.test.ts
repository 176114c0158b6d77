import { expect, test } from 'vitest'
import { createAttemptLock } from './attempt-lock.ts'

test('locks one person after the allowed attempts, for the window, and no other person', () => {
  let now = 0
  const lock = createAttemptLock({
    clock: { now: () => new Date(now), sleep: async () => {} },
    most: 3,
    windowMilliseconds: 1000,
  })
  expect([1, 2, 3, 4].map(() => lock.tryAgain('noah'))).toEqual([true, true, true, false])
  expect(lock.tryAgain('olivia')).toBe(true)
  now = 999
  expect(lock.tryAgain('noah')).toBe(false)
  now = 1001
  expect(lock.tryAgain('noah')).toBe(true)
})
