// The table on the screen and the page of the documentation show what is void, missing, met and not met.
import { describe, expect, test } from 'vitest'
import { type BenchReport, isVoid } from './bench-report.ts'
import { benchmarksPage } from './markdown.ts'
import { number, screenText } from './table.ts'

const steady = { median: 1, min: 0.95, max: 1.04 }
const report: BenchReport = {
  name: 'sums',
  title: 'adds numbers',
  date: '2026-01-02T03:04:05.000Z',
  machine: { processors: 2, processorModel: 'Abacus', memoryGigabytes: 4, node: 'v24', go: 'go1.26' },
  pairs: 5,
  scale: 1,
  long: false,
  seconds: 12,
  comparisons: [
    {
      name: 'add',
      title: 'a million numbers',
      unit: 'sums',
      peerName: 'a child with fingers',
      figures: { 'rate per second': { ours: 1234.5, peer: 10, ratio: { median: 123.45, min: 120, max: 130 } } },
      control: steady,
      goals: [{ text: 'faster than a child', met: true, value: '123' }],
      rounds: [],
    },
  ],
  measurements: [
    {
      name: 'rest',
      title: 'doing nothing',
      figures: [{ label: 'writes', value: 3, unit: '' }],
      goals: [{ text: 'writes ≤ 0', met: false, value: '3' }],
    },
  ],
}
const [comparison] = report.comparisons
const voided: BenchReport = { ...report, comparisons: comparison ? [{ ...comparison, void: 'it thundered' }] : [] }

describe('on the screen', () => {
  test('columns are aligned and results of goals are shown', () => {
    expect(screenText(report)).toBe(`sums: adds numbers (5 rounds asked for, 12 s in all)
  add: a million numbers; peer: a child with fingers
    sums                   ours  peer   ours ÷ peer (min–max)
    rate per second       1,235    10  123.45 (120.00–130.00)
    control: peer ÷ peer                     1.00 (0.95–1.04)
    goal: faster than a child → 123: met
  rest: doing nothing
    writes  3
    goal: writes ≤ 0 → 3: NOT MET
`)
  })

  test('a void result never shows a goal as met', () => {
    expect(screenText(voided)).toContain('faster than a child → 123: void\n    VOID: it thundered')
    expect([isVoid(report), isVoid(voided)]).toEqual([false, true])
  })
})

describe('on the page', () => {
  test('shows date, machine class, tables and results of goals', () => {
    const page = benchmarksPage([report], ['other'])
    expect(page).toContain('Measured 2026-01-02: 2 × Abacus, 4 GB, Node.js v24, go1.26; 12 s in all.')
    expect(page).toContain('| rate per second | 1,235 | 10 | 123.45 (120.00–130.00) |')
    expect(page).toContain('| faster than a child | 123 | met |')
    expect(page).toContain('| writes ≤ 0 | 3 | NOT MET |')
    expect(page).toContain('Not measured here: other.')
  })

  test('shows that a result is void, and why', () => {
    const page = benchmarksPage([voided], [])
    expect(page).toContain('**Void**: it thundered.')
    expect(page).toContain('| faster than a child | 123 | void |')
  })
})

test('numbers have at most four significant digits, integers stay exact, and NaN is shown as a dash', () => {
  expect([0, 7, 0.01234, 12.3456, 1234.5, 1_234_567, Number.NaN].map(number)).toEqual([
    '0',
    '7',
    '0.012',
    '12.35',
    '1,235',
    '1,234,567',
    '–',
  ])
})
