import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundedName, hashedName, shortHash } from './bounded-name.ts'

test('a name that fits stays as it is', () => {
  expect(boundedName('shop-web', 8)).toBe('shop-web')
})

test('a longer one is cut, without a hyphen at the cut, and ends in a hash of the whole', () => {
  expect(boundedName('shop-web-cart', 11, { length: 4 })).toBe(`shop-w-${shortHash('shop-web-cart', 4)}`)
  expect(boundedName('shop--web-cart', 11, { length: 4 })).toBe(`shop-${shortHash('shop--web-cart', 4)}`)
})

test('the hash can be of something else', () => {
  expect(hashedName('shop', 20, { of: 'pipeline', length: 8 })).toBe(`shop-${shortHash('pipeline', 8)}`)
})

test('no name is longer than its limit', () => {
  fc.assert(fc.property(fc.string(), fc.integer({ min: 14, max: 63 }), (text, max) => boundedName(text, max).length <= max))
})
