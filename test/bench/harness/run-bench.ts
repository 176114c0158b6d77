// Runs one bench from opening to its report, within its budget. Whatever the bench started is closed in every case.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import type { Bench, Comparison, Measurement } from './bench.ts'
import { type CompareOptions, runRounds, within } from './compare.ts'
import { machineClass } from './machine.ts'
import { type BenchReport, type ComparisonReport, evaluateAll, type MeasurementReport } from './report/bench-report.ts'
import { scaleReason, summarize, voidReason } from './summarize.ts'

export type RunBenchOptions = {
  readonly pairs: number
  readonly scale: number
  readonly long: boolean
  readonly note: (message: string) => void
  /** Ends the bench early, for example on Ctrl-C; what it started is closed. */
  readonly signal: AbortSignal
}

async function compare(comparison: Comparison, options: CompareOptions, scale: number): Promise<ComparisonReport> {
  const rounds = await runRounds(comparison, options)
  const summary = summarize(rounds)
  const reason = voidReason(summary, rounds.length, scale)
  const { name, title, unit, peerName } = comparison
  return {
    name,
    title,
    unit,
    peerName,
    ...summary,
    ...(reason === undefined ? {} : { void: reason }),
    goals: evaluateAll(comparison.goals, summary),
    rounds,
  }
}

async function measure(measurement: Measurement, signal: AbortSignal, scale: number): Promise<MeasurementReport> {
  const figures = await within(measurement.run, signal)
  const reason = scaleReason(scale)
  const { name, title } = measurement
  return {
    name,
    title,
    figures,
    ...(reason === undefined ? {} : { void: reason }),
    goals: evaluateAll(measurement.goals, figures),
  }
}

/** @throws AppError when the budget ends before every comparison had its first round */
export async function runBench(bench: Bench, options: RunBenchOptions): Promise<BenchReport> {
  const { pairs, scale, long } = options
  const note = (message: string): void => options.note(`${bench.name}: ${message}`)
  const started = performance.now()
  const date = new Date().toISOString()
  const seconds = (long ? bench.longBudgetSeconds : undefined) ?? bench.budgetSeconds
  const over = new AbortController()
  const end = (): void => over.abort(new AppError('unavailable', `it took longer than its ${seconds} s`))
  const budget = setTimeout(end, seconds * 1000)
  const signal = AbortSignal.any([over.signal, options.signal])
  const left = (): number => seconds * 1000 - (performance.now() - started)
  const folder = await mkdtemp(join(tmpdir(), `sekisho-bench-${bench.name}-`))
  try {
    const open = await bench.open({ note, scale, long, folder })
    try {
      const { comparisons, measurements = [] } = open
      const measured: MeasurementReport[] = []
      for (const measurement of measurements) measured.push(await measure(measurement, signal, scale))
      const compared: ComparisonReport[] = []
      for (const [index, comparison] of comparisons.entries()) {
        // The remaining time is shared evenly among the remaining comparisons.
        const share = left() / (comparisons.length - index)
        const until = performance.now() + share
        const options = { pairs, note, signal, left: () => until - performance.now() }
        compared.push(await compare(comparison, options, scale))
      }
      const { name, title } = bench
      return {
        name,
        title,
        date,
        machine: await machineClass(),
        pairs,
        scale,
        long,
        seconds: (performance.now() - started) / 1000,
        comparisons: compared,
        measurements: measured,
      }
    } finally {
      await open.close()
    }
  } finally {
    clearTimeout(budget)
    await rm(folder, { recursive: true, force: true })
  }
}
