import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createDelays } from './delays.ts'

test('each key is due once, at the earliest of its times, on one timer', async () => {
  const setting = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), at: fc.integer({ min: 1, max: 1000 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(setting, { minLength: 1 }), async settings => {
      const clock = createFakeClock()
      const due: { key: string; at: number; value: number }[] = []
      const delays = createDelays<number>(clock, (key, value) => due.push({ key, at: clock.monotonic(), value }))
      const earliest = new Map<string, number>()
      for (const { key, at } of settings) {
        delays.set(key, at, at)
        earliest.set(key, Math.min(at, earliest.get(key) ?? at))
        expect(clock.sleepers()).toBe(1)
      }
      await clock.advance(1000)
      const wanted = [...earliest].map(([key, at]) => ({ key, at, value: at }))
      const order = (a: { key: string }, b: { key: string }): number => a.key.localeCompare(b.key)
      expect(due.sort(order)).toEqual(wanted.sort(order))
    }),
    { numRuns: 50 },
  )
})

test('cleared keys are never due', async () => {
  const clock = createFakeClock()
  const due: string[] = []
  const delays = createDelays<undefined>(clock, key => due.push(key))
  delays.set('a', 10, undefined)
  delays.clear()
  expect(clock.sleepers()).toBe(0)
  await clock.advance(100)
  expect(due).toEqual([])
})
