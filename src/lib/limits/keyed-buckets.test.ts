// Buckets by key: each key has its own, and memory is bounded.
import { expect, test } from 'vitest'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createKeyedBuckets } from './keyed-buckets.ts'

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
