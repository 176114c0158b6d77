import { expect, test } from 'vitest'
import { createHourlyBudget } from './hourly-budget.ts'

test('gives its share of an hour, evenly, to each key', () => {
  let now = 0
  const budget = createHourlyBudget({ perHour: 400, clock: { now: () => new Date(now), sleep: () => Promise.resolve() } })
  const taken = (key: string, tries: number): number =>
    Array.from({ length: tries }, () => budget.take(key)).filter(Boolean).length
  expect(taken('one', 1000)).toBe(20)
  expect(taken('two', 1000)).toBe(20)
  let inAnHour = 0
  for (let minute = 0; minute < 60; minute++) {
    now += 60_000
    inAnHour += taken('one', 100)
  }
  expect(inAnHour).toBeGreaterThanOrEqual(399)
  expect(inAnHour).toBeLessThanOrEqual(400)
  now -= 3_600_000
  expect(taken('one', 10)).toBe(0)
})
