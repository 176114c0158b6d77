import { expect, test } from 'vitest'
import { startPace } from './pace.ts'

test('each due time is given out once, in order, and not before it has come', async () => {
  const { next } = await startPace({ perSecond: 400, seconds: 0.25 })
  const dues: number[] = []
  for (let due = await next(); due !== undefined; due = await next()) {
    // The clocks of two threads differ by some microseconds.
    expect(due).toBeLessThan(performance.now() + 0.05)
    dues.push(due)
  }
  expect(dues).toHaveLength(100)
  const first = dues[0] ?? 0
  expect(dues.map(due => Math.round((due - first) * 1000))).toEqual(dues.map((_, number) => number * 2500))
  expect(await next()).toBeUndefined()
})

test('a due time that nobody waited for is given out later, and those who wait at the end get none', async () => {
  const started = performance.now()
  const { next } = await startPace({ perSecond: 100, seconds: 0.03 })
  const waited = await Promise.all([next(), next(), next(), next()])
  expect(waited.map(due => due !== undefined)).toEqual([true, true, true, false])
  expect(waited[2]).toBeGreaterThan(started + 20)
})
