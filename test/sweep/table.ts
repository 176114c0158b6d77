// The table of a sweep: one line for each scenario, followed by every point that did not survive. Text only.

export type ScenarioResult = {
  readonly scenario: string
  readonly points: number
  readonly survived: number
  /** Points whose write did not happen again: a status that only a race writes. */
  readonly notReached: readonly string[]
  readonly failures: readonly { readonly point: string; readonly problem: string }[]
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
  const details = results.flatMap(({ scenario, failures, notReached }) => [
    ...failures.map(({ point, problem }) => `\n✗ ${scenario}, ${point}\n  ${problem}`),
    ...notReached.map(point => `  not reached: ${scenario}, ${point}`),
  ])
  return [...lines, ...details].join('\n')
}
