// What a bench leaves: one JSON file in the state folder, which the table, the page of the documentation and people read.
// Everything in it was measured or says why it was not; it never names a path of the machine.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../../../dev/cluster/replace-file.ts'
import type { Figure, FigureSummary, Goal, Spread, Verdict } from '../bench.ts'
import type { Machine } from '../machine.ts'
import type { Round } from '../summarize.ts'

export type JudgedGoal = Verdict & { readonly text: string }

export type ComparisonReport = {
  readonly name: string
  readonly title: string
  readonly unit: string
  readonly peerName: string
  readonly figures: Readonly<Record<string, FigureSummary>>
  readonly control: Spread
  /** Why this is no result. */
  readonly void?: string
  readonly goals: readonly JudgedGoal[]
  readonly rounds: readonly Round[]
}

export type MeasurementReport = {
  readonly name: string
  readonly title: string
  readonly figures: readonly Figure[]
  readonly void?: string
  readonly goals: readonly JudgedGoal[]
}

export type BenchReport = {
  readonly name: string
  readonly title: string
  readonly date: string
  readonly machine: Machine
  readonly pairs: number
  readonly scale: number
  readonly long: boolean
  /** How long all of it took. */
  readonly seconds: number
  readonly comparisons: readonly ComparisonReport[]
  readonly measurements: readonly MeasurementReport[]
}

export function judgeAll<T>(goals: readonly Goal<T>[], result: T): readonly JudgedGoal[] {
  return goals.map(({ text, judge }) => ({ text, ...judge(result) }))
}

/** Some part of it is no result. */
export function isVoid(report: BenchReport): boolean {
  return [...report.comparisons, ...report.measurements].some(part => part.void !== undefined)
}

/** Runs that only tried a bench out have a file of their own: they must not take the place of a result. */
function fileOf(stateFolder: string, name: string, scale = 1): string {
  return join(stateFolder, 'bench', scale === 1 ? `${name}.json` : `${name}.tried-out.json`)
}

export async function writeReport(stateFolder: string, report: BenchReport): Promise<void> {
  await mkdir(join(stateFolder, 'bench'), { recursive: true })
  await replaceFile(fileOf(stateFolder, report.name, report.scale), `${JSON.stringify(report, null, 2)}\n`)
}

/** Of the last run with full sizes; undefined when there was none here. */
export async function readReport(stateFolder: string, name: string): Promise<BenchReport | undefined> {
  try {
    // Written by `writeReport` of this same file; nobody else writes there.
    return JSON.parse(await readFile(fileOf(stateFolder, name), 'utf8')) as BenchReport
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
