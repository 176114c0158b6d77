import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFreezer } from './freeze.ts'

function frozenToTheGround(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(frozenToTheGround)
}

test('any JSON in any order stays equal and is frozen deeply', () => {
  const freeze = createFreezer()
  const text = fc.oneof(fc.string({ maxLength: 200 }), fc.constantFrom('apps.sekisho.dev/v1alpha1', 'apps.sekisho.dev/v1alpha2'))
  const json = fc.letrec<{ value: unknown }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string({ maxLength: 12 }), tie('value'), { maxKeys: 4 }),
    ),
  })).value
  fc.assert(
    fc.property(fc.array(json, { maxLength: 6 }), values => {
      const before = JSON.stringify(values)
      for (const value of values) expect(frozenToTheGround(freeze(value))).toBe(true)
      expect(JSON.stringify(values)).toBe(before)
    }),
  )
})

test('a key named __proto__ is ordinary data', () => {
  const freeze = createFreezer()
  const value: object = JSON.parse('{"__proto__":{"polluted":"yes"},"a":"some longer text"}')
  freeze(value)
  expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":"yes"},"a":"some longer text"}')
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
})

test('a key named __proto__ with a deduplicated text changes no prototype', () => {
  const freeze = createFreezer()
  const [first, second]: [object, object] = JSON.parse(
    '[{"__proto__":"apps.sekisho.dev/v1"},{"__proto__":"apps.sekisho.dev/v1"}]',
  )
  freeze(first)
  freeze(second)
  expect(Object.getPrototypeOf(second)).toBe(Object.prototype)
  expect(JSON.stringify(second)).toBe('{"__proto__":"apps.sekisho.dev/v1"}')
})
