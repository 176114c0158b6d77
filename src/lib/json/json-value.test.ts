// Guards for unchecked JSON: what is missing or of another type is undefined or empty, never an error.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asObject, integerAt, isJsonObject, listAt, objectAt, objectsAt, textAt } from './json-value.ts'

describe('guards for unchecked JSON', () => {
  test('an object is neither null nor a list', () => {
    expect(isJsonObject({})).toBe(true)
    for (const other of [null, [], 'text', 1, true, undefined]) {
      expect(isJsonObject(other)).toBe(false)
      expect(asObject(other)).toBeUndefined()
    }
  })

  test('a path ends where a step is missing or is not an object', () => {
    const value = { metadata: { owner: { name: 'a' } }, list: [] }
    expect(objectAt(value)).toBe(value)
    expect(objectAt(value, 'metadata', 'owner')).toEqual({ name: 'a' })
    expect(objectAt(value, 'metadata', 'absent', 'name')).toBeUndefined()
    expect(objectAt(value, 'list')).toBeUndefined()
  })

  test('fields of another type count as missing', () => {
    const value = { text: 'a', list: [1, { a: 1 }, null], integer: 7, fraction: 1.5, large: 2 ** 53 }
    expect(textAt(value, 'text')).toBe('a')
    expect(textAt(value, 'integer')).toBeUndefined()
    expect(listAt(value, 'list')).toHaveLength(3)
    expect(listAt(value, 'text')).toEqual([])
    expect(objectsAt(value, 'list')).toEqual([{ a: 1 }])
    expect(integerAt(value, 'integer')).toBe(7)
    expect(integerAt(value, 'fraction')).toBeUndefined()
    expect(integerAt(value, 'large')).toBeUndefined()
  })

  test('no guard throws, whatever the JSON is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, field) => {
        const object = objectAt(value)
        objectAt(value, field, field)
        textAt(object, field)
        objectsAt(object, field)
        integerAt(object, field)
      }),
    )
  })
})
