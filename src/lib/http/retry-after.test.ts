import { expect, test } from 'vitest'
import { retryAfterSeconds } from './retry-after.ts'

const now = new Date('2026-01-01T00:00:00Z')

test.each([
  ['7', 7],
  [['7', '9'], 7],
  ['Thu, 01 Jan 2026 00:01:30 GMT', 90],
  ['Thu, 01 Jan 2026 00:00:00 GMT', 0],
  ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
  ['soon', undefined],
  ['-3', undefined],
  ['99999999999', undefined],
  [[], undefined],
  [undefined, undefined],
])('%j requests %j seconds', (header, seconds) => {
  expect(retryAfterSeconds(header, now)).toBe(seconds)
})
