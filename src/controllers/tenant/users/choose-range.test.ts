// No two Tenants get one range, a Tenant keeps its own, and a range is used again as late as possible.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maxUserRanges } from '../../../lib/limits/user-range.ts'
import { chooseRange } from './choose-range.ts'

const recorded = (entries: readonly (readonly [string, number])[] = [], last?: number) => ({ taken: new Map(entries), last })
const end = maxUserRanges - 1
const all = Array.from({ length: maxUserRanges }, (_, index) => [`tenant-${index}`, index] as const)

test('the first Tenant gets the first range, and the next one the range after the highest', () => {
  expect(chooseRange(recorded(), 'a', [])).toBe(0)
  expect(chooseRange(recorded([['b', 4]]), 'a', [])).toBe(5)
})

test('a Tenant keeps what was recorded for it', () => {
  const both = [
    ['a', 2],
    ['b', 7],
  ] as const
  expect(chooseRange(recorded(both, 7), 'a', [7])).toBe(2)
})

test('what the namespaces of another Tenant say counts although the record was lost', () => {
  expect(chooseRange(recorded(), 'a', [0, 1])).toBe(2)
  expect(chooseRange(recorded([['a', 1]], 1), 'a', [1])).toBe(2)
})

test('the range of a Tenant that ended is not given to the next one, also when it was the highest', () => {
  expect(chooseRange(recorded([['b', 0]], 1), 'a', [])).toBe(2)
})

test('ranges of Tenants that ended are used in turn once the last one was given, and there is none when all are taken', () => {
  const two = [
    ['b', end],
    ['c', 0],
  ] as const
  expect(chooseRange(recorded(two), 'a', [])).toBe(1)
  expect(chooseRange(recorded(two, end), 'a', [])).toBe(1)
  expect(chooseRange(recorded(two, 5), 'a', [])).toBe(6)
  expect(chooseRange(recorded(all, 5), 'a', [])).toBeUndefined()
  expect(chooseRange(recorded(all, 5), 'tenant-9', [])).toBe(9)
})

test('whatever is recorded, the range is nobody else’s', () => {
  const index = fc.integer({ min: 0, max: end })
  fc.assert(
    fc.property(
      fc.uniqueArray(index, { maxLength: 50 }),
      fc.option(index, { nil: undefined }),
      fc.array(index, { maxLength: 10 }),
      fc.nat(60),
      (given, last, others, own) => {
        const taken = new Map(given.map((value, place) => [`tenant-${place}`, value]))
        const chosen = chooseRange({ taken, last }, `tenant-${own}`, others)
        const foreign = [...taken].filter(([uid]) => uid !== `tenant-${own}`).map(([, value]) => value)
        expect(chosen).toBeDefined()
        expect([...foreign, ...others]).not.toContain(chosen)
      },
    ),
  )
})
