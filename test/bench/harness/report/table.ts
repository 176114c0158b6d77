// Renders a bench's report for the screen: aligned columns, goals with their results, and VOID where nothing was proved. Pure.
import type { Figure } from '../bench.ts'
import type { BenchReport, ComparisonReport, EvaluatedGoal, MeasurementReport } from './bench-report.ts'

/** Four significant digits with thousands separators; integers stay exact. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US')
  return value.toPrecision(value < 1 ? 2 : 4)
}

/** Columns as wide as their widest cell; the first one left-aligned, the others right-aligned. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length)
  return rows.map(row =>
    row
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

export function resultText(goal: EvaluatedGoal, isVoid: boolean): string {
  if (isVoid) return 'void'
  return goal.met ? 'met' : 'NOT MET'
}

export function ratioText({ median, min, max }: { readonly median: number; readonly min: number; readonly max: number }): string {
  // Two figures that are both 0 have no ratio.
  if (!Number.isFinite(median)) return '–'
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
}

function goalLines(goals: readonly EvaluatedGoal[], reason: string | undefined): string[] {
  const lines = goals.map(goal => `    goal: ${goal.text} → ${goal.value}: ${resultText(goal, reason !== undefined)}`)
  return reason === undefined ? lines : [...lines, `    VOID: ${reason}`]
}

function comparisonLines(report: ComparisonReport): string[] {
  const rows = [
    [`    ${report.unit}`, 'ours', 'peer', 'ours ÷ peer (min–max)'],
    ...Object.entries(report.figures).map(([name, { ours, peer, ratio }]) => [
      `    ${name}`,
      number(ours),
      number(peer),
      ratioText(ratio),
    ]),
    ['    control: peer ÷ peer', '', '', ratioText(report.control)],
  ]
  return [
    `  ${report.name}: ${report.title}; peer: ${report.peerName}`,
    ...aligned(rows),
    ...goalLines(report.goals, report.void),
  ]
}

function measurementLines(report: MeasurementReport): string[] {
  const rows = report.figures.map(({ label, value, unit }: Figure) => [`    ${label}`, number(value), unit])
  return [`  ${report.name}: ${report.title}`, ...aligned(rows), ...goalLines(report.goals, report.void)]
}

export function screenText(report: BenchReport): string {
  return [
    `${report.name}: ${report.title} (${report.pairs} rounds asked for, ${report.seconds.toFixed(0)} s in all)`,
    ...report.comparisons.flatMap(comparisonLines),
    ...report.measurements.flatMap(measurementLines),
    '',
  ].join('\n')
}
