// How long a token lives, and until when it is delivered again.
import { expect, test } from 'vitest'
import { livesUntil, minimumLifeSeconds } from './token-life.ts'

const now = new Date('2026-06-01T12:00:00Z')
const inAnHour = new Date('2026-06-01T13:00:00Z')

test('the platform ends a token only where GitHub does not end it before', () => {
  expect(livesUntil(900, now, inAnHour)).toEqual(new Date('2026-06-01T12:15:00Z'))
  expect(livesUntil(900, now, new Date('2026-06-01T12:10:00Z'))).toBeUndefined()
  expect(livesUntil(3600, now, inAnHour)).toBeUndefined()
})

test.each([
  ['ServiceAccount', 900, 300],
  ['Application', 900, 300],
  ['RemoteSync', 3600, 600],
  ['AppPipeline', 3600, 600],
  ['ServiceAccount', 3600, 300],
  ['RemoteSync', 600, 200],
  ['ServiceAccount', 60, 20],
])('a token of a %s that lives for %i seconds is delivered while %i are left', (kind, life, minimum) => {
  expect(minimumLifeSeconds(kind, life)).toBe(minimum)
})
