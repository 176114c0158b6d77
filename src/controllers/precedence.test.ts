import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Claim, comesFirst } from './precedence.ts'

const claim = (uid: string, second: number, holds: boolean): Claim => ({
  metadata: { name: uid, uid, creationTimestamp: `2026-01-01T00:00:0${second}Z` },
  holds,
})

test.each([
  { which: 'the older one', one: claim('b', 1, false), other: claim('a', 2, false), byHolder: true, byAge: true },
  { which: 'a holder', one: claim('b', 2, true), other: claim('a', 1, false), byHolder: true, byAge: false },
  { which: 'a holder of the same second', one: claim('b', 1, true), other: claim('a', 1, false), byHolder: true, byAge: true },
  { which: 'of two holders the smaller uid', one: claim('a', 1, true), other: claim('b', 1, true), byHolder: true, byAge: true },
])('$which comes first by holder: $byHolder, by age: $byAge', ({ one, other, byHolder, byAge }) => {
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
