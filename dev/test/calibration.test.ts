import { expect, test } from 'vitest'
import { calibrate, factorOf } from './calibration.ts'

test.each([
  ['the reference', { hashing: 60, syncing: 5, spawning: 50 }, 1],
  ['faster', { hashing: 20, syncing: 0.1, spawning: 10 }, 1],
  ['processors of half the speed', { hashing: 120, syncing: 1, spawning: 80 }, 2],
  ['a slow disk', { hashing: 60, syncing: 15, spawning: 50 }, 3],
  ['programs that start slowly', { hashing: 60, syncing: 1, spawning: 125 }, 2.5],
  ['slower than is waited for', { hashing: 600, syncing: 900, spawning: 5000 }, 4],
  ['a measurement that failed', { hashing: 60, syncing: Number.NaN, spawning: 50 }, 1],
])('the factor of %s', (_, measured, factor) => {
  expect(factorOf(measured)).toBe(factor)
})

test('is measured once and passed on', () => {
  const environment: Record<string, string | undefined> = {}
  const factor = calibrate(environment)
  expect(factor).toBeGreaterThanOrEqual(1)
  expect(factor).toBeLessThanOrEqual(4)
  expect(calibrate({ ...environment })).toBe(factor)
  expect(calibrate({ SEKISHO_MACHINE_FACTOR: '2.5' })).toBe(2.5)
})
