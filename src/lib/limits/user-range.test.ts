// Ranges lie side by side above the ids of nodes and images, and a label is read strictly.
import { expect, test } from 'vitest'
import { firstUserIn, firstUserOf, maxUserRanges, rangeIndexOf, userRangeSize } from './user-range.ts'

test('ranges begin above every id of an image and end below the ids that are negative in 32 bits', () => {
  expect(firstUserOf(0)).toBe(1_073_741_824)
  expect(firstUserOf(1) - firstUserOf(0)).toBe(userRangeSize)
  expect(firstUserOf(maxUserRanges - 1) + userRangeSize - 1).toBe(2 ** 31 - 1)
})

test.each([0, 1, 500, maxUserRanges - 1])('range %i is found by its first id, and by no other', index => {
  expect(rangeIndexOf(firstUserOf(index))).toBe(index)
  expect(rangeIndexOf(firstUserOf(index) + 1)).toBeUndefined()
})

test.each(['', '0', '1001', '1073741825', '2147483648', '01073741824', '1073741824.0', '-1073741824', '1e9'])(
  'the label %j says no range',
  text => {
    expect(firstUserIn(text)).toBeUndefined()
  },
)

test('the label that the platform writes is read', () => {
  expect(firstUserIn(String(firstUserOf(3)))).toBe(firstUserOf(3))
})
