import { expect, test } from 'vitest'
import { growth, metricValues, type Sample, settled, slope } from './samples.ts'

const sample = (at: number, residentMegabytes: number): Sample => ({
  at,
  residentMegabytes,
  openFiles: 0,
  sockets: 0,
  watchSilence: 0,
  silentKind: '',
  lists: 0,
  watchEnds: 0,
})

test('the slope of a line is exact, and robust against noise and an outlier', () => {
  expect(slope([0, 1, 2, 3].map(x => [x, 5 + 2 * x]))).toBeCloseTo(2)
  expect(slope([0, 1, 2, 3, 4, 5].map(x => [x, 7 + (x % 2)]))).toBeLessThan(0.1)
  expect(slope([0, 1, 2, 3, 4, 5, 6, 7, 8].map(x => [x, x === 7 ? 500 : 3 * x]))).toBeCloseTo(3)
  expect(slope([[0, 1]])).toBeNaN()
})

test('growth ignores the first third of the samples and includes a jump between quarters', () => {
  const samples = [300, 10, 10, 10, 10, 10, 10, 10, 40].map((size, at) => sample(at, size))
  expect(growth(settled(samples, 3), ({ residentMegabytes }) => residentMegabytes)).toBe(30)
})

test('metrics are found by their complete name', () => {
  const text = '# HELP a x\na{kind="x"} 1\na{kind="y"} 2.5\na_total 7\nab 9\n'
  expect(metricValues(text, 'a')).toEqual([1, 2.5])
  expect(metricValues(text, 'a_total')).toEqual([7])
})
