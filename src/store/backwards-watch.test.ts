import { expect, test } from 'vitest'
import { movableClock } from '../../test/fixtures/databases.ts'
import { createBackwardsWatch } from './backwards-watch.ts'

test('a step back is told once, synchronisation and steps forward are not', () => {
  const clock = movableClock()
  const wasSetBack = createBackwardsWatch(clock)
  const after = (seconds: number): boolean => {
    clock.advance(seconds)
    return wasSetBack()
  }
  expect([after(60), after(-20), after(3600), after(-30)]).toEqual([false, false, false, false])
  expect(after(-1)).toBe(true)
  expect(after(0)).toBe(false)
  expect(after(-3600)).toBe(true)
  expect(after(5)).toBe(false)
})
