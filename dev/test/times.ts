// How long each stage and each file of tests took, and the order of files that follows from it. The order is committed, so that
// it is the same for everybody, whatever ran before: dev/test/vitest/file-order.json.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StageResult } from './run-lane.ts'

export const orderFile = 'dev/test/vitest/file-order.json'
const shownFiles = 10

/** Seconds by path. */
type FileTimes = Readonly<Record<string, number>>

/** `times.json` of the last run. */
type Times = {
  readonly stages: Readonly<Record<string, { readonly seconds: number; readonly budget: number }>>
  readonly files: FileTimes
}

export async function writeTimes(path: string, stages: readonly StageResult[]): Promise<void> {
  const ran = stages.filter(({ outcome }) => outcome !== 'left out')
  const times: Times = {
    stages: Object.fromEntries(ran.map(({ title, seconds, budget }) => [title, { seconds: Math.round(seconds), budget }])),
    files: Object.fromEntries(ran.flatMap(({ files }) => files.map(({ file, seconds }) => [file, seconds]))),
  }
  await writeFile(path, `${JSON.stringify(times, null, 2)}\n`)
}

/** The slowest files, each stage with its budget, and a line for each that took longer. */
export function timeLines(stages: readonly StageResult[]): readonly string[] {
  const ran = stages.filter(({ outcome }) => outcome !== 'left out')
  const slowest = ran
    .flatMap(({ files }) => files)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, shownFiles)
  const row = (seconds: number, text: string): string => `${seconds.toFixed(0).padStart(6)} s  ${text}`
  return [
    ...(slowest.length > 0 ? ['slowest files:', ...slowest.map(({ file, seconds }) => row(seconds, file))] : []),
    'stages:',
    ...ran.map(({ title, seconds, budget }) => row(seconds, `of ${String(budget).padStart(3)} s  ${title}`)),
    ...ran
      .filter(({ seconds, budget }) => seconds > budget)
      .map(({ title, seconds, budget }) => `slow: ${title} took ${seconds.toFixed(0)} s, its budget is ${budget} s`),
  ]
}

/**
 * Files that did not run keep their number, and those that are gone lose it. Whole seconds, below two 0: a run changes few
 * lines.
 */
export function mergedOrder(order: FileTimes, ran: FileTimes, exists: (path: string) => boolean): FileTimes {
  const rounded = Object.entries(ran).map(([file, seconds]): [string, number] => [file, seconds < 2 ? 0 : Math.round(seconds)])
  const all = Object.entries({ ...order, ...Object.fromEntries(rounded) }).filter(([file]) => exists(file))
  return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Rewrites the committed order from `times.json`. @throws when there is none */
export async function writeOrder(repository: string, timesPath: string): Promise<void> {
  const path = join(repository, orderFile)
  const { files } = JSON.parse(await readFile(timesPath, 'utf8')) as Times
  const order = JSON.parse(await readFile(path, 'utf8')) as FileTimes
  await writeFile(
    path,
    `${JSON.stringify(
      mergedOrder(order, files, file => existsSync(join(repository, file))),
      null,
      2,
    )}\n`,
  )
}
