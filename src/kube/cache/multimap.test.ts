// Compares the multimap with a plain map of sets over any sequence of additions and deletions.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMultimap } from './multimap.ts'

test('contains what a map of sets would contain', () => {
  const step = fc.record({ add: fc.boolean(), key: fc.constantFrom('a', 'b'), value: fc.constantFrom('1', '2', '3') })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const multimap = createMultimap()
      const model = new Map<string, Set<string>>()
      for (const { add, key, value } of steps) {
        multimap[add ? 'add' : 'delete'](key, value)
        const values = model.get(key) ?? new Set()
        values[add ? 'add' : 'delete'](value)
        if (values.size === 0) model.delete(key)
        else model.set(key, values)
      }
      for (const key of ['a', 'b']) expect(multimap.get(key)).toEqual([...(model.get(key) ?? [])])
      expect(multimap.size()).toBe(model.size)
    }),
  )
})
