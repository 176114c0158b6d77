import { expect, test } from 'vitest'
import { equalInConstantTime } from './constant-time.ts'

test.each([
  ['', '', true],
  ['a', 'a', true],
  ['a', 'b', false],
  ['a', 'ab', false],
  ['é', 'e', false],
])('%j and %j', (left, right, equal) => {
  expect(equalInConstantTime(left, right)).toBe(equal)
  expect(equalInConstantTime(Buffer.from(left), right)).toBe(equal)
})
