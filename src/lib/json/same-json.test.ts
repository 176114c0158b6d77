import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sameJson } from './same-json.ts'

describe('equality of JSON values', () => {
  test.each([
    ['keys in another order', { a: 1, b: [true, null] }, { b: [true, null], a: 1 }, true],
    ['an undefined field and an absent one', { a: 1, b: undefined }, { a: 1 }, true],
    ['an undefined field and an absent one, the other way', { a: 1 }, { a: 1, b: undefined }, true],
    ['a null field and an absent one', { a: 1, b: null }, { a: 1 }, false],
    ['a field more', { a: 1, b: 2 }, { a: 1 }, false],
    ['a field less', { a: 1 }, { a: 1, b: 2 }, false],
    ['as many fields of other names', { a: 1, b: undefined }, { a: 1, c: 2 }, false],
    ['a list and an object with its indexes', ['x'], { 0: 'x' }, false],
    ['an object and a list with its indexes', { 0: 'x' }, ['x'], false],
    ['lists of other lengths', [1, 2], [1], false],
    ['a field that the prototype has', { constructor: 1 }, {}, false],
    ['the prototype’s own field', {}, JSON.parse('{"__proto__":{}}'), false],
    ['null and an object', null, {}, false],
    ['a number and its text', 1, '1', false],
    ['zero and minus zero, which JSON writes alike', { a: [0] }, { a: [-0] }, true],
  ])('%s', (_name, a, b, same) => {
    expect(sameJson(a, b)).toBe(same)
  })

  test('agrees with Node.js for any two JSON values', () => {
    const value = fc.jsonValue({ maxDepth: 3 }).map(json => JSON.parse(JSON.stringify(json)) as unknown)
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(sameJson(a, b)).toBe(isDeepStrictEqual(a, b))
        expect(sameJson(a, structuredClone(a))).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
