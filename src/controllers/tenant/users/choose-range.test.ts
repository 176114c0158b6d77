// No two Tenants get one range, a Tenant keeps its own, and a range is used again as late as possible.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maxUserRanges } from '../../../lib/limits/user-range.ts'
import { chooseRange } from './choose-range.ts'

test('the first Tenant gets the first range, and the next one the range after the highest', () => {
  expect(chooseRange(new Map(), 'a', [])).toBe(0)
  expect(chooseRange(new Map([['b', 4]]), 'a', [])).toBe(5)
})

test('a Tenant keeps what was recorded for it', () => {
  expect(
    chooseRange(
      new Map([
        ['a', 2],
        ['b', 7],
      ]),
      'a',
      [7],
    ),
  ).toBe(2)
})

test('what the namespaces of another Tenant say counts although the record was lost', () => {
  expect(chooseRange(new Map(), 'a', [0, 1])).toBe(2)
  expect(chooseRange(new Map([['a', 1]]), 'a', [1])).toBe(2)
})

test('ranges of Tenants that ended are used when the last one is taken, and there is none when all are', () => {
  const last = maxUserRanges - 1
  expect(
    chooseRange(
      new Map([
        ['b', last],
        ['c', 0],
      ]),
      'a',
      [],
    ),
  ).toBe(1)
  const all = Array.from({ length: maxUserRanges }, (_, index) => index)
  expect(chooseRange(new Map(all.map(index => [`tenant-${index}`, index])), 'a', [])).toBeUndefined()
})

test('whatever is recorded, the range is nobody else’s', () => {
  const index = fc.integer({ min: 0, max: maxUserRanges - 1 })
  fc.assert(
    fc.property(
      fc.uniqueArray(index, { maxLength: 50 }),
      fc.array(index, { maxLength: 10 }),
      fc.nat(60),
      (recorded, others, own) => {
        const taken = new Map(recorded.map((value, place) => [`tenant-${place}`, value]))
        const chosen = chooseRange(taken, `tenant-${own}`, others)
        const foreign = [...taken].filter(([uid]) => uid !== `tenant-${own}`).map(([, value]) => value)
        expect(chosen).toBeDefined()
        expect([...foreign, ...others]).not.toContain(chosen)
      },
    ),
  )
})
