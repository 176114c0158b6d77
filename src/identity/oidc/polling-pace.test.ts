import { expect, test } from 'vitest'
import { createPollingPace } from './polling-pace.ts'

test('a device may ask every five seconds, each device for itself', () => {
  let now = 0
  const pace = createPollingPace(() => new Date(now))
  expect(pace.mayAsk('a')).toBe(true)
  now = 4000
  expect(pace.mayAsk('b')).toBe(true)
  expect(pace.mayAsk('a')).toBe(false)
  now = 9000
  expect(pace.mayAsk('a')).toBe(true)
})
