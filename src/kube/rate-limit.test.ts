import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRateBuckets } from './rate-buckets.ts'
import { createRetryLimiter } from './rate-limit.ts'
import { createFakeClock } from './testing/fake-clock.ts'

test('waits of one key double from a quarter of a second, never above five minutes, and start anew after success', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 40 }), randoms => {
      const left = [...randoms]
      const limiter = createRetryLimiter({ clock: createFakeClock(), random: () => left.shift() ?? 0 })
      randoms.forEach((_, index) => {
        const delay = limiter.delayAfterFailure('key')
        const low = Math.min(250 * 2 ** index, 150_000)
        expect(delay).toBeGreaterThanOrEqual(low)
        expect(delay).toBeLessThanOrEqual(low * 2)
      })
      expect(limiter.failures('key')).toBe(randoms.length)
      limiter.forget('key')
      expect(limiter.failures('key')).toBe(0)
      expect(limiter.delayAfterFailure('key')).toBeLessThanOrEqual(500)
    }),
  )
})

test('over all keys, retries beyond the first hundred come at twenty a second', async () => {
  const clock = createFakeClock()
  const limiter = createRetryLimiter({ clock, random: () => 0 })
  const delays = Array.from({ length: 300 }, (_, index) => limiter.delayAfterFailure(`key-${index}`))
  expect(Math.max(...delays.slice(0, 100))).toBe(250)
  expect(delays[299]).toBe(10_000)
  await clock.advance(60_000)
  expect(limiter.delayAfterFailure('later')).toBe(250)
})

test('buckets let a burst through, then one per period, each key for itself', async () => {
  const clock = createFakeClock()
  const buckets = createRateBuckets({ clock, burst: 3, perMilliseconds: 1000, remembered: 2 })
  expect([1, 2, 3, 4].map(() => buckets.take('a'))).toEqual([true, true, true, false])
  expect(buckets.take('b')).toBe(true)
  await clock.advance(1000)
  expect([buckets.take('a'), buckets.take('a')]).toEqual([true, false])
})
