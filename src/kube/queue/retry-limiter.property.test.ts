// Waits grow up to a bound, and retries come at a bounded rate, whatever the random numbers are.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fullJitter } from '../../lib/backoff.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createRetryLimiter } from './retry-limiter.ts'

const dice = fc.double({ min: 0, max: 0.999, noNaN: true })

test('waits of one key double from a quarter of a second, never above five minutes, and restart after success', () => {
  fc.assert(
    fc.property(fc.array(dice, { minLength: 1, maxLength: 40 }), randoms => {
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

test('with the same random number a later wait is never shorter, and none exceeds the given cap', () => {
  fc.assert(
    fc.property(dice, fc.integer({ min: 500, max: 300_000 }), fc.integer({ min: 2, max: 40 }), (roll, cap, count) => {
      const limiter = createRetryLimiter({ clock: createFakeClock(), random: () => roll })
      let before = 0
      for (let attempt = 0; attempt < count; attempt++) {
        const delay = limiter.delayAfterFailure('key', cap)
        expect(delay).toBeGreaterThanOrEqual(before)
        expect(delay).toBeLessThanOrEqual(cap)
        before = delay
        const watch = fullJitter({ baseMilliseconds: 500, capMilliseconds: cap }, attempt, () => roll)
        expect(watch).toBeLessThanOrEqual(cap)
        expect(watch).toBeGreaterThanOrEqual(
          attempt === 0 ? 0 : fullJitter({ baseMilliseconds: 500, capMilliseconds: cap }, attempt - 1, () => roll),
        )
      }
    }),
  )
})

test('over all keys, no window of time contains more retries than the burst and twenty a second', async () => {
  const failure = fc.record({ key: fc.integer({ min: 0, max: 400 }), pause: fc.integer({ min: 0, max: 5 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(failure, { minLength: 150, maxLength: 400, size: 'max' }), async failures => {
      const clock = createFakeClock()
      const limiter = createRetryLimiter({ clock, random: () => 0 })
      const due: number[] = []
      for (const [index, { pause }] of failures.entries()) {
        await clock.advance(pause)
        // Every failure is the first of its key, so only the shared bucket delays it beyond a quarter of a second.
        due.push(clock.monotonic() + limiter.delayAfterFailure(`key-${index}`))
      }
      due.sort((a, b) => a - b)
      for (const [index, from] of due.entries()) {
        const within = due.filter((at, other) => other >= index && at < from + 1000).length
        // Where the wait of the bucket and the quarter second overlap, retries may shift by that quarter.
        expect(within).toBeLessThanOrEqual(100 + 20 + 6)
      }
    }),
    { numRuns: 10 },
  )
})
