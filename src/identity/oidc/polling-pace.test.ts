import { expect, test } from 'vitest'
import { createPollingPace } from './polling-pace.ts'

test('a device may poll every five seconds, independent of other devices', () => {
  let now = 0
  const pace = createPollingPace(() => new Date(now))
  expect(pace.mayPoll('a')).toBe(true)
  now = 4000
  expect(pace.mayPoll('b')).toBe(true)
  expect(pace.mayPoll('a')).toBe(false)
  now = 9000
  expect(pace.mayPoll('a')).toBe(true)
})
