// Buckets by key: each key has its own, and memory is bounded.
import { expect, test } from 'vitest'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createKeyedBuckets } from './keyed-buckets.ts'
import { evenlyPerHour } from './token-bucket.ts'

test('one key that is used up leaves the others full, and says when it can be used again', async () => {
  const clock = createFakeClock()
  const buckets = createKeyedBuckets({ burst: 2, millisecondsPerToken: 1000 }, clock)
  expect([buckets.take('flood'), buckets.take('flood')]).toEqual([0, 0])
  // A refusal takes nothing: the wait does not grow with the number of attempts.
  for (let attempt = 0; attempt < 100; attempt++) expect(buckets.take('flood')).toBe(1000)
  expect(buckets.take('other')).toBe(0)
  await clock.advance(1000)
  expect(buckets.take('flood')).toBe(0)
  expect(buckets.take('flood')).toBe(1000)
})

test('a share of an hour is spread evenly, for each key', () => {
  let now = 0
  const clock = { now: () => new Date(now), sleep: () => Promise.resolve() }
  const buckets = createKeyedBuckets(evenlyPerHour(400), clock)
  const taken = (key: string, attempts: number): number =>
    Array.from({ length: attempts }, () => buckets.take(key)).filter(wait => wait === 0).length
  expect(taken('one', 1000)).toBe(20)
  expect(taken('two', 1000)).toBe(20)
  let inAnHour = 0
  for (let minute = 0; minute < 60; minute++) {
    now += 60_000
    inAnHour += taken('one', 100)
  }
  expect(inAnHour).toBeGreaterThanOrEqual(399)
  expect(inAnHour).toBeLessThanOrEqual(400)
  // A clock that is set back refills nothing.
  now -= 3_600_000
  expect(taken('one', 10)).toBe(0)
})
