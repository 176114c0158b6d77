// The order of claims, by holder and by age.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Claim, comesFirst } from './precedence.ts'

const claim = (uid: string, second: number, holds: boolean): Claim => ({
  metadata: { name: uid, uid, creationTimestamp: `2026-01-01T00:00:0${second}Z` },
  holds,
})

test.each([
  ['the older of two', claim('b', 1, false), claim('a', 2, false), true, true],
  ['a holder against an older one', claim('b', 2, true), claim('a', 1, false), true, false],
  ['a holder of the same second', claim('b', 1, true), claim('a', 1, false), true, true],
  ['the smaller uid of two holders of the same second', claim('a', 1, true), claim('b', 1, true), true, true],
] as const)('%s: comes first by holder and by age', (...[, one, other, byHolder, byAge]) => {
  expect([comesFirst(one, other, 'holder'), comesFirst(one, other, 'age')]).toEqual([byHolder, byAge])
})

test('of two different objects exactly one comes first, and never an object before itself', () => {
  const some = fc.record({ uid: fc.uuid(), second: fc.integer({ min: 0, max: 9 }), holds: fc.boolean() })
  fc.assert(
    fc.property(some, some, fc.constantFrom('holder' as const, 'age' as const), (a, b, by) => {
      const [one, other] = [claim(a.uid, a.second, a.holds), claim(b.uid, b.second, b.holds)]
      expect(comesFirst(one, one, by)).toBe(false)
      if (a.uid !== b.uid) expect(comesFirst(one, other, by)).toBe(!comesFirst(other, one, by))
    }),
  )
})
