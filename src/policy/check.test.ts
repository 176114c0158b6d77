// The first refusal of a list of checks decides.
import { describe, expect, test } from 'vitest'
import { type Check, firstRefusal } from './check.ts'

const atLeast =
  (limit: number, seen: number[] = []): Check<number> =>
  facts => {
    seen.push(limit)
    return facts >= limit ? undefined : { reason: 'TooSmall', message: `must be at least ${limit}` }
  }

describe('a list of checks', () => {
  test('refuses with the first check that does not hold, and evaluates no further ones', () => {
    const seen: number[] = []
    const checks = [atLeast(1, seen), atLeast(5, seen), atLeast(9, seen)]
    expect(firstRefusal(checks, 3)).toEqual({ reason: 'TooSmall', message: 'must be at least 5' })
    expect(seen).toEqual([1, 5])
  })

  test('passes when all hold, and when there is none', () => {
    expect(firstRefusal([atLeast(1), atLeast(2)], 2)).toBeUndefined()
    expect(firstRefusal([], 0)).toBeUndefined()
  })
})
