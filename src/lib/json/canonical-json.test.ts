import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, type JsonValue } from './canonical-json.ts'

const value = fc.letrec<{ value: JsonValue }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value

test('equal values have one text, whatever the order of their keys', () => {
  expect(canonicalJson({ b: 1, a: [true, null] })).toBe('{"a":[true,null],"b":1}')
  expect(canonicalJson({ a: [true, null], b: 1 })).toBe('{"a":[true,null],"b":1}')
})

test('different values have different texts, so that two requests never share a cache key', () => {
  expect(canonicalJson({ repositoryIds: [123] })).not.toBe(canonicalJson({ repositoryIds: ['123'] }))
  expect(canonicalJson({ a: [] })).not.toBe(canonicalJson({ a: {} }))
})

test('the text is JSON that reads back as the value', () => {
  fc.assert(
    fc.property(value, original => {
      expect(JSON.parse(canonicalJson(original))).toEqual(original === null ? null : JSON.parse(JSON.stringify(original)))
    }),
  )
})

test('values without a canonical form are refused', () => {
  expect(() => canonicalJson(1.5)).toThrow(TypeError)
  expect(() => canonicalJson(2 ** 60)).toThrow(TypeError)
  expect(() => canonicalJson(undefined as never)).toThrow(TypeError)
})
