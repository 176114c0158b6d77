// Ratios within rounds, the control, what makes a result void, and how goals are evaluated.
import { describe, expect, test } from 'vitest'
import type { Run } from './bench.ts'
import { allOf, anyOf, figureAtMost, oursAbovePeerAtMost, oursAtLeast, ratioAtLeast, ratioAtMost } from './goals.ts'
import { figureNames, figuresOf, type Round, summarize, voidReason } from './summarize.ts'

const at = (rate: number, more: Partial<Run> = {}): Run => ({ operations: rate, wallSeconds: 1, ...more })
const round = (before: number, ours: number, after: number): Round => ({ before: at(before), ours: at(ours), after: at(after) })

describe('figures of a run', () => {
  test('are derived from the measurements; figures that were not measured are absent', () => {
    const run: Run = {
      operations: 500,
      wallSeconds: 2,
      cpuSeconds: 1,
      latency: { p50Milliseconds: 3, p99Milliseconds: 9 },
      heapBytes: 5_000_000,
      figures: { 'API server CPU s': 4 },
    }
    expect(figuresOf(run)).toEqual({
      [figureNames.rate]: 250,
      [figureNames.wall]: 2,
      [figureNames.cpu]: 2,
      [figureNames.p50]: 3,
      [figureNames.p99]: 9,
      [figureNames.heap]: 5,
      'API server CPU s': 4,
    })
  })
})

describe('summarize', () => {
  test('compares ours with the two peers around it: a machine that slows down evenly changes no ratio', () => {
    const slowing = [round(100, 95, 90), round(90, 85, 80), round(80, 75, 70)]
    const { figures, control } = summarize(slowing)
    expect(figures[figureNames.rate]?.ratio).toEqual({ median: 1, min: 1, max: 1 })
    expect(figures[figureNames.rate]).toMatchObject({ ours: 85, peer: 85 })
    expect(control.median).toBeCloseTo(90 / 80)
  })

  test('omits a figure that one side did not report', () => {
    const rounds: Round[] = [{ before: at(1), ours: at(1, { cpuSeconds: 1 }), after: at(1, { cpuSeconds: 1 }) }]
    expect(Object.keys(summarize(rounds).figures)).toEqual([figureNames.rate, figureNames.wall])
  })
})

describe('a result is void', () => {
  const five = (rounds: Round): readonly Round[] => Array.from({ length: 5 }, () => rounds)
  const reason = (rounds: readonly Round[], scale = 1): string | undefined => voidReason(summarize(rounds), rounds.length, scale)

  test.each([
    [five(round(100, 50, 100)), undefined],
    [five(round(108, 50, 100)), undefined],
    [five(round(111, 50, 100)), 'the machine was too noisy'],
    [five(round(89, 50, 100)), 'the machine was too noisy'],
    [five(round(100, 50, 100)).slice(1), '4 rounds are fewer than 5'],
    [[], 'the machine was too noisy'],
  ])('%#: because of its control or too few rounds', (rounds, words) => {
    if (words === undefined) expect(reason(rounds)).toBeUndefined()
    else expect(reason(rounds)).toContain(words)
  })

  test('when its sizes were scaled', () => {
    expect(reason(five(round(100, 50, 100)), 0.5)).toContain('scaled to 0.5')
  })
})

describe('goals', () => {
  const summary = summarize([round(100, 80, 100)])
  const { rate } = figureNames

  test.each([
    [ratioAtLeast(rate, 0.8), true, '0.800'],
    [ratioAtLeast(rate, 0.81), false, '0.800'],
    [ratioAtMost(rate, 0.8), true, '0.800'],
    [oursAtLeast(rate, 80), true, '80.0'],
    [oursAtLeast(rate, 81), false, '80.0'],
    [oursAbovePeerAtMost(rate, -20), true, '-20.0'],
    [oursAbovePeerAtMost(rate, -21), false, '-20.0'],
    [oursAbovePeerAtMost('p99 ms', 1000), false, 'not measured'],
    [ratioAtLeast('p99 ms', 0), false, 'not measured'],
    [ratioAtMost('p99 ms', 1000), false, 'not measured'],
    [anyOf([oursAtLeast(rate, 81), ratioAtLeast(rate, 0.5)]), true, '80.0; 0.800'],
    [allOf([oursAtLeast(rate, 81), ratioAtLeast(rate, 0.5)]), false, '80.0; 0.800'],
  ])('%#: are evaluated by medians, and never met by figures that were not measured', (goal, met, value) => {
    expect(goal.evaluate(summary)).toEqual({ met, value })
  })

  test('of measurements select the figure by its label', () => {
    const figures = [{ label: 'writes', value: 0, unit: '' }]
    expect(figureAtMost('writes', 0).evaluate(figures)).toEqual({ met: true, value: '0.00' })
    expect(figureAtMost('reads', 0).evaluate(figures).met).toBe(false)
  })
})
