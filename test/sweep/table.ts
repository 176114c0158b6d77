// The table of a sweep: one line for each scenario, followed by every point that did not survive. Text only.

import { shellWord } from '../../dev/cluster/environment.ts'
import { inOneLine } from '../../dev/test/again.ts'

/** `second`: what came of the point when it was repeated alone. */
export type SweptFailure = { readonly point: string; readonly problem: string; readonly second: string }

export type ScenarioResult = {
  readonly scenario: string
  readonly points: number
  readonly survived: number
  /** Points whose write did not happen again: a status that only a race writes. */
  readonly notReached: readonly string[]
  readonly failures: readonly SweptFailure[]
  /** Failed first, and survived when they were repeated alone. */
  readonly flaky: readonly SweptFailure[]
  /** Of all workers together. */
  readonly seconds: number
}

export function sweepTable(results: readonly ScenarioResult[]): string {
  const rows = results.map(({ scenario, points, survived, notReached, seconds }) => [
    scenario,
    String(points),
    String(survived),
    String(notReached.length),
    seconds.toFixed(0),
  ])
  const sum = (of: (result: ScenarioResult) => number): number => results.reduce((total, result) => total + of(result), 0)
  const total = [
    'all',
    String(sum(result => result.points)),
    String(sum(result => result.survived)),
    String(sum(result => result.notReached.length)),
    sum(result => result.seconds).toFixed(0),
  ]
  const head = ['scenario', 'write points', 'survived', 'not reached', 'seconds']
  const all = [head, ...rows, total]
  const widths = head.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0)))
  const lines = all.map(row =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '),
  )
  const details = results.flatMap(({ scenario, failures, flaky, notReached }) => [
    ...failures.map(({ point, problem, second }) => `\n✗ ${scenario}, ${point}\n  ${problem}\n  second: ${second}`),
    ...flaky.map(({ point }) => `  survived only when repeated: ${scenario}, ${point}`),
    ...notReached.map(point => `  not reached: ${scenario}, ${point}`),
  ])
  return [...lines, ...details].join('\n')
}

/** What `make test` repeats in its last lines: each point that was not simply green, with the command that repeats only it. */
export function pointLines(results: readonly ScenarioResult[]): readonly string[] {
  return results.flatMap(({ scenario, failures, flaky }) => {
    const lines =
      (outcome: string) =>
      ({ point, problem, second }: SweptFailure): readonly string[] => [
        `${outcome}: crash sweep > ${scenario}, ${point}: ${inOneLine(problem)} || (second: ${inOneLine(second)})`,
        `again: SEKISHO_SWEEP_POINT=${shellWord(`${scenario}, ${point}`)} npx vitest run --project sweep`,
      ]
    return [...failures.flatMap(lines('failed')), ...flaky.flatMap(lines('flaky'))]
  })
}
