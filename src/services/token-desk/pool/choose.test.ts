import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inOrder, type Rated, worthUsing } from './choose.ts'

const rated = fc.array(
  fc.record({ left: fc.oneof(fc.constantFrom(0, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true })), isRefused: fc.boolean() }),
  { minLength: 1, maxLength: 8 },
)
const named = (all: readonly { left: number; isRefused: boolean }[]): readonly Rated<number>[] =>
  all.map((one, member) => ({ ...one, member }))
const isAble = ({ left, isRefused }: { left: number; isRefused: boolean }): boolean => left > 0 && !isRefused

test('the first has the most left of all that can be asked, of equal ones the earlier; nobody is asked twice', () => {
  fc.assert(
    fc.property(rated, all => {
      const given = named(all)
      const order = inOrder(given)
      expect(new Set(order).size).toBe(order.length)
      const able = given.filter(isAble)
      if (able.length === 0) {
        expect(order).toEqual([0])
        return
      }
      expect(order.toSorted((a, b) => a - b)).toEqual(able.map(({ member }) => member))
      for (const [at, member] of order.entries()) {
        const [one, next] = [given[member], given[order[at + 1] ?? member]]
        if (one === undefined || next === undefined) throw new Error('a member of its own')
        expect(one.left > next.left || (one.left === next.left && one.member <= next.member)).toBe(true)
      }
    }),
  )
})

test('what others have or lack does not change the order of two', () => {
  fc.assert(
    fc.property(rated, rated, (some, more) => {
      const few = named(some)
      if (!few.some(isAble)) return
      const all = [...few, ...more.map((one, at) => ({ ...one, member: 100 + at }))]
      expect(inOrder(all).filter(member => member < 100)).toEqual(inOrder(few))
    }),
  )
})

test('live tokens of a member with nothing left are used only when no other can make one', () => {
  fc.assert(
    fc.property(rated, all => {
      const given = named(all)
      const used = new Set(worthUsing(given))
      for (const one of given) expect(used.has(one.member)).toBe(one.left > 0 || !given.some(isAble))
    }),
  )
})
