import { expect, test } from 'vitest'
import { didYouMean } from './similar-names.ts'

test.each([
  ['shpo', ['web', 'shop'], 'shop'],
  ['shop-worke', ['shop', 'shop-worker'], 'shop-worker'],
  ['sh', ['shop', 'web'], 'shop'],
  ['Shop', ['shop'], 'shop'],
  ['billing', ['shop', 'web'], undefined],
  ['a', [], undefined],
])('%s among %j: %s', (name, names, meant) => {
  expect(didYouMean(name, names)).toBe(meant === undefined ? '' : `; did you mean ${meant}?`)
})
