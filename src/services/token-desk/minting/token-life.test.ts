// How long a token lives, by who holds it.
import { expect, test } from 'vitest'
import { livesUntil, minimumLifeSeconds } from './token-life.ts'

const now = new Date('2026-06-01T12:00:00Z')
const inAnHour = new Date('2026-06-01T13:00:00Z')

test.each(['ServiceAccount', 'Application'])('a token that the pods of a tenant hold lives for fifteen minutes: %s', kind => {
  expect(livesUntil({ kind }, now, inAnHour)).toEqual(new Date('2026-06-01T12:15:00Z'))
  expect(livesUntil({ kind }, now, new Date('2026-06-01T12:10:00Z'))).toBeUndefined()
  expect(minimumLifeSeconds({ kind })).toBe(300)
})

test.each(['RemoteSync', 'AppPipeline'])('what the platform uses for a %s lives as long as GitHub says', kind => {
  expect(livesUntil({ kind }, now, inAnHour)).toBeUndefined()
  expect(minimumLifeSeconds({ kind })).toBe(600)
})
