// What is printed about the runs without a layer: a table with one row for each, and below it what passed. Pure.
import type { Changed, Comparison } from './compare.ts'

export type Without = Comparison & { readonly layer: string; readonly what: string; readonly alarm: string }

const header = ['without', 'tried', 'still stopped', 'of them by another layer', 'stopped by it alone', 'unclear'] as const

/** Attempts that are shown of one attack. */
const maxLines = 8

function row({ layer, stoppedBefore, stillStopped, caughtBy, passed, unclear }: Without): readonly string[] {
  const caught = Object.entries(caughtBy)
    .sort(([, a], [, b]) => b - a)
    .map(([by, count]) => `${by} ${count}`)
    .join(', ')
  return [layer, stoppedBefore, stillStopped, caught || '0', passed.length, unclear.length].map(String)
}

function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = header.map((_, column) => Math.max(...rows.map(cells => cells[column]?.length ?? 0)))
  return rows.map(cells =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function changedLines(word: string, changed: readonly Changed[]): readonly string[] {
  return [...Map.groupBy(changed, ({ attack }) => attack)].flatMap(([attack, ofAttack]) => [
    `${word.padEnd(10)}  ${attack.padEnd(34)} ${ofAttack.length}`,
    ...ofAttack
      .slice(0, maxLines)
      .flatMap(({ attempt, stoppedBefore, evidence }) => [
        `            ${attempt} (was stopped by ${stoppedBefore})`,
        `                       ${evidence}`,
      ]),
    ...(ofAttack.length > maxLines ? [`            and ${ofAttack.length - maxLines} more: -o json has them all`] : []),
  ])
}

/** The whole report, in lines. */
export function withoutLines(runs: readonly Without[]): readonly string[] {
  return [
    ...runs.flatMap(({ layer, what, alarm, passed, unclear, unmatched }) => [
      '',
      `without ${layer}: ${what}`,
      `expected meanwhile: ${alarm}`,
      ...changedLines('PASSED', passed),
      ...changedLines('UNCLEAR', unclear),
      ...(unmatched > 0 ? [`${unmatched} attempts were made in one of the runs only, and are not compared`] : []),
    ]),
    '',
    ...tableLines([header, ...runs.map(row)]),
    'Every layer is back. What passed without one is no failure of this run: it says what stands on that layer alone.',
  ]
}
