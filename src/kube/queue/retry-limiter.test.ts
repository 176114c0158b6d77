import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createRetryLimiter } from './retry-limiter.ts'

test('over all keys, retries beyond the first hundred come at twenty a second', async () => {
  const clock = createFakeClock()
  const limiter = createRetryLimiter({ clock, random: () => 0 })
  const delays = Array.from({ length: 300 }, (_, index) => limiter.delayAfterFailure(`key-${index}`))
  expect(Math.max(...delays.slice(0, 100))).toBe(250)
  expect(delays[299]).toBe(10_000)
  await clock.advance(60_000)
  expect(limiter.delayAfterFailure('later')).toBe(250)
})

test('a lower cap bounds the wait of a key', () => {
  const limiter = createRetryLimiter({ clock: createFakeClock(), random: () => 0.999 })
  const delays = Array.from({ length: 12 }, () => limiter.delayAfterFailure('key', 4000))
  expect(Math.max(...delays)).toBeLessThanOrEqual(4000)
  expect(limiter.delayAfterFailure('key')).toBeGreaterThan(100_000)
})
