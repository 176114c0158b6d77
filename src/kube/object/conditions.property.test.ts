import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sameJson } from '../../lib/json/same-json.ts'
import { findCondition, mergeConditions } from './conditions.ts'

const wanted = fc.array(
  fc.record({
    type: fc.constantFrom('Ready', 'Built', 'Accepted', 'Available'),
    status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
    reason: fc.constantFrom('A', 'B'),
    message: fc.string({ maxLength: 5 }),
  }),
  { maxLength: 6 },
)
const early = new Date('2026-01-01T00:00:00.700Z')
const late = new Date('2026-02-02T00:00:00Z')

test('the transition time changes exactly when the status does, whatever else changes', () => {
  fc.assert(
    fc.property(wanted, wanted, (before, after) => {
      const current = mergeConditions(undefined, before, 1, early)
      const merged = mergeConditions(current, after, 2, late)
      for (const condition of merged) {
        const old = findCondition(current, condition.type)
        const stays = old?.status === condition.status
        expect(condition.lastTransitionTime).toBe(stays ? '2026-01-01T00:00:00Z' : '2026-02-02T00:00:00Z')
        expect(condition.observedGeneration).toBe(2)
      }
      expect(merged.map(({ type }) => type)).toEqual([...new Set(after.map(({ type }) => type))].sort())
    }),
  )
})

test('merging the same conditions again changes nothing, in any order', () => {
  fc.assert(
    fc.property(wanted, items => {
      const unique = [...new Map(items.map(item => [item.type, item])).values()]
      const once = mergeConditions(undefined, unique, 3, early)
      expect(mergeConditions(once, unique.toReversed(), 3, late)).toEqual(once)
      expect(sameJson(once, mergeConditions(once, unique, 3, late))).toBe(true)
    }),
  )
})

test('statuses are equal when the server would treat them as equal', () => {
  expect(sameJson({ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 2] }, a: 1 })).toBe(true)
  expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true)
  expect(sameJson({ a: 1, b: undefined }, { a: 1, c: 1 })).toBe(false)
  expect(sameJson([1, 2], [2, 1])).toBe(false)
  expect(sameJson([], {})).toBe(false)
  expect(sameJson(null, {})).toBe(false)
  expect(sameJson(undefined, undefined)).toBe(true)
  fc.assert(fc.property(fc.jsonValue(), value => sameJson(value, JSON.parse(JSON.stringify(value)))))
})
