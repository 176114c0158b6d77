// The result of a bench: one JSON file in the state folder, from which the table and the documentation page are made.
// Everything in it was measured, or it says why not; it never contains a path of the machine.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../../../dev/cluster/replace-file.ts'
import type { Figure, FigureSummary, Goal, GoalResult, Spread } from '../bench.ts'
import type { Machine } from '../machine.ts'
import type { Round } from '../summarize.ts'

export type EvaluatedGoal = GoalResult & { readonly text: string }

export type ComparisonReport = {
  readonly name: string
  readonly title: string
  readonly unit: string
  readonly peerName: string
  readonly figures: Readonly<Record<string, FigureSummary>>
  readonly control: Spread
  /** Why this is not a result. */
  readonly void?: string
  readonly goals: readonly EvaluatedGoal[]
  readonly rounds: readonly Round[]
}

export type MeasurementReport = {
  readonly name: string
  readonly title: string
  readonly figures: readonly Figure[]
  readonly void?: string
  readonly goals: readonly EvaluatedGoal[]
}

export type BenchReport = {
  readonly name: string
  readonly title: string
  readonly date: string
  readonly machine: Machine
  readonly pairs: number
  readonly scale: number
  readonly long: boolean
  /** Duration of the whole bench. */
  readonly seconds: number
  readonly comparisons: readonly ComparisonReport[]
  readonly measurements: readonly MeasurementReport[]
}

export function evaluateAll<T>(goals: readonly Goal<T>[], result: T): readonly EvaluatedGoal[] {
  return goals.map(({ text, evaluate }) => ({ text, ...evaluate(result) }))
}

/** Whether some part of it is void. */
export function isVoid(report: BenchReport): boolean {
  return [...report.comparisons, ...report.measurements].some(part => part.void !== undefined)
}

/** Scaled runs have a file of their own: they must not replace a result. */
function fileOf(stateFolder: string, name: string, scale = 1): string {
  return join(stateFolder, 'bench', scale === 1 ? `${name}.json` : `${name}.tried-out.json`)
}

export async function writeReport(stateFolder: string, report: BenchReport): Promise<void> {
  await mkdir(join(stateFolder, 'bench'), { recursive: true })
  await replaceFile(fileOf(stateFolder, report.name, report.scale), `${JSON.stringify(report, null, 2)}\n`)
}

/** The report of the last run with full sizes; undefined when there is none. */
export async function readReport(stateFolder: string, name: string): Promise<BenchReport | undefined> {
  try {
    // Written by `writeReport` above; nothing else writes there.
    return JSON.parse(await readFile(fileOf(stateFolder, name), 'utf8')) as BenchReport
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
