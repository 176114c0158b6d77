// The statistics of benches checked against their definitions, by examples and by properties.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mean, median, percentile, spread } from './statistics.ts'

/** Zero has one sign: no measurement tells -0 from 0. */
const number = fc.double({ noNaN: true, min: -1e9, max: 1e9 }).map(value => value + 0)
const numbers = fc.array(number, { minLength: 1, maxLength: 50 })

describe('percentile', () => {
  test('is the nearest rank: always a measured value', () => {
    const values = [15, 20, 35, 40, 50]
    expect([0, 5, 30, 40, 50, 99, 100].map(rank => percentile(values, rank))).toEqual([15, 15, 20, 20, 35, 50, 50])
    fc.assert(fc.property(numbers, fc.integer({ min: 0, max: 100 }), (all, rank) => all.includes(percentile(all, rank))))
  })

  test('at least the given share of the values is not larger', () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 100 }), (all, rank) => {
        const value = percentile(all, rank)
        return all.filter(other => other <= value).length >= (rank / 100) * all.length
      }),
    )
  })
})

describe('median', () => {
  test('is the middle value or the mean of the two middle ones, and does not sort its argument', () => {
    const values = [9, 1, 5]
    expect(median(values)).toBe(5)
    expect(values).toEqual([9, 1, 5])
    expect(median([1, 2, 10, 100])).toBe(6)
  })

  test('does not depend on the order and lies within the values', () => {
    fc.assert(
      fc.property(numbers, all => {
        const { median: middle, min, max } = spread(all)
        expect(middle).toBe(median(all.toReversed()))
        expect(middle).toBeGreaterThanOrEqual(min)
        expect(middle).toBeLessThanOrEqual(max)
      }),
    )
  })
})

test('an empty list gives NaN', () => {
  expect([percentile([], 50), median([]), mean([]), spread([]).median, spread([]).min, spread([]).max]).toEqual(
    Array.from({ length: 6 }, () => Number.NaN),
  )
})

test('mean is the sum divided by the count', () => {
  expect(mean([1, 2, 6])).toBe(3)
})
