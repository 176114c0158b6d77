import { expect, test } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { namingClock } from './clock-error.ts'

const issuer = 'https://sekisho.example.com'
const invalid = new AppError('upstream_failed', "the issuer's response is not valid: unexpected claim")
const minute = 60_000

test.each([
  [10 * minute, 'it is 10 minutes behind that of https://sekisho.example.com'],
  [-10 * minute, 'it is 10 minutes ahead of that of https://sekisho.example.com'],
  [45_000, 'it is 45 seconds behind'],
  [-26 * 60 * minute, 'it is 26 hours ahead of'],
  [400 * 24 * 60 * minute, 'it is 400 days behind'],
])('a clock that is %i ms off is named, with what the error said', (offset, text) => {
  const named = namingClock(invalid, offset, issuer) as Error
  expect(named.message).toContain('check the clock of this computer')
  expect(named.message).toContain(text)
  expect(named.message).toContain('unexpected claim')
})

test('nothing is said of a clock that is right, is not known, or has nothing to do with it', () => {
  for (const offset of [undefined, 0, 29_000, -29_000]) expect(namingClock(invalid, offset, issuer)).toBe(invalid)
  const other = new AppError('forbidden', 'no')
  expect(namingClock(other, 10 * minute, issuer)).toBe(other)
  expect(namingClock('text', 10 * minute, issuer)).toBe('text')
})
