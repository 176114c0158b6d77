import { expect, test } from 'vitest'
import { endsWithin } from './clock.ts'
import { createFakeClock, settle } from './testing/fake-clock.ts'

test('distinguishes work that ends in time from work that does not, and leaves no timer', async () => {
  const clock = createFakeClock()
  expect(await endsWithin(clock, 1000, Promise.resolve())).toBe(true)
  await expect(endsWithin(clock, 1000, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  await settle()
  expect(clock.sleepers()).toBe(0)
  const late = Promise.withResolvers<void>()
  const waiting = endsWithin(clock, 1000, late.promise)
  await clock.advance(1000)
  expect(await waiting).toBe(false)
  late.reject(new Error('nobody listens any more'))
  await settle()
})
