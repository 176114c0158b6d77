// The order of files is that of the committed seconds; the end of a run names what is slow.
import { expect, test } from 'vitest'
import { reportLines } from './report.ts'
import type { StageResult } from './run-lane.ts'
import { mergedOrder } from './times.ts'
import { longestFirst } from './vitest/file-sequencer.ts'

test('the longest file comes first, new ones before it, and equal ones by their paths', () => {
  const seconds = { 'a.test.ts': 3, 'b.test.ts': 90, 'c.test.ts': 0, 'd.test.ts': 0 }
  const order = ['new.test.ts', 'b.test.ts', 'a.test.ts', 'c.test.ts', 'd.test.ts']
  expect(longestFirst(order.toReversed(), seconds)).toEqual(order)
  expect(longestFirst(order.toSorted(), seconds)).toEqual(order)
})

test('a run replaces the seconds of what ran, rounded, and drops files that are gone', () => {
  const order = { 'b.test.ts': 5, 'gone.test.ts': 7, 'left-out.test.ts': 40 }
  const merged = mergedOrder(order, { 'c.test.ts': 61.6, 'b.test.ts': 1.9, 'a.test.ts': 2.4 }, path => path !== 'gone.test.ts')
  expect(Object.entries(merged)).toEqual([
    ['a.test.ts', 2],
    ['b.test.ts', 0],
    ['c.test.ts', 62],
    ['left-out.test.ts', 40],
  ])
})

const stage = (title: string, seconds: number, more: Partial<StageResult> = {}): StageResult => ({
  title,
  budget: 300,
  outcome: 'passed',
  seconds,
  files: [],
  lines: [],
  ...more,
})

test('the end of a run has the slowest files, each stage with its budget, what is not green, and last the commands', () => {
  const files = Array.from({ length: 12 }, (_, seconds) => ({
    project: 'unit',
    file: `${seconds}.test.ts`,
    seconds,
    failures: [],
    skipped: [],
  }))
  const lines = reportLines([
    stage('unit tests', 200, { files }),
    stage('demo', 512.4, { outcome: 'failed', lines: ['failed: one', 'again: two', 'flaky: three', 'again: two'] }),
    stage('rights', 0, { outcome: 'left out', lines: ['left out: rights: four'] }),
  ])
  expect(lines.filter(line => line.endsWith('.test.ts'))).toHaveLength(10)
  expect(lines[lines.indexOf('slowest files:') + 1]).toBe('    11 s  11.test.ts')
  expect(lines.slice(lines.indexOf('stages:'))).toEqual([
    'stages:',
    '   200 s  of 300 s  unit tests',
    '   512 s  of 300 s  demo',
    'slow: demo took 512 s, its budget is 300 s',
    '',
    'stages: 1 of 3 passed; failed: demo',
    'failed: one',
    'flaky: three',
    'left out: rights: four',
    'again: two',
  ])
})
