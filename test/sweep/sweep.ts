// Sweeps scenarios: runs each once undisturbed, which yields its write points and the expected state, then once with a crash before and after
// every point. Workers run in parallel, each with its own process.

import type { Fixture } from './environment/fixture.ts'
import { runCase, runUndisturbed, type ScenarioRun, type Undisturbed, type Worker } from './harness.ts'
import type { CrashPoint } from './proxies/crash-switch.ts'
import type { Scenario } from './scenario.ts'
import type { ScenarioResult } from './table.ts'

/** A point whose write does not happen is tried this often: a race in the undisturbed run produced it. */
const tries = 2

/**
 * After every write, and before the first write of each name. The external state before a write is the state after the previous one, so
 * "before" adds only the combinations that concurrent writes can leave behind.
 */
export function pointsOf({ writes }: Undisturbed): readonly CrashPoint[] {
  const counts = new Map<string, number>()
  return writes.flatMap((write): CrashPoint[] => {
    const occurrence = (counts.get(write) ?? 0) + 1
    counts.set(write, occurrence)
    const after: CrashPoint = { write, occurrence, when: 'after' }
    return occurrence === 1 ? [{ write, occurrence, when: 'before' }, after] : [after]
  })
}

/** A later write of the same name has its number in brackets at the end of its text. */
export function shortPointsOf(undisturbed: Undisturbed, chosen: RegExp): readonly CrashPoint[] {
  return pointsOf(undisturbed).filter(point => chosen.test(pointText(point)))
}

export function pointText({ when, write, occurrence }: CrashPoint): string {
  return `${when} ${write}${occurrence === 1 ? '' : ` (${occurrence})`}`
}

type Tally = {
  points: number
  survived: number
  milliseconds: number
  readonly notReached: string[]
  readonly failures: { readonly point: string; readonly problem: string }[]
}

async function sweepPoint(run: ScenarioRun, point: CrashPoint, undisturbed: Undisturbed, tally: Tally): Promise<void> {
  for (let attempt = 1; attempt <= tries; attempt++) {
    const outcome = await runCase(run, point, undisturbed.state)
    switch (outcome.kind) {
      case 'survived':
        tally.points += 1
        tally.survived += 1
        return
      case 'failed':
        tally.points += 1
        tally.failures.push({ point: pointText(point), problem: outcome.problem })
        process.stderr.write(`\n✗ ${run.scenario.name}, ${pointText(point)}\n  ${outcome.problem}\n`)
        return
      case 'not-reached':
        break
    }
  }
  tally.notReached.push(pointText(point))
}

type Job = (worker: Worker) => Promise<void>

async function work(workers: readonly Worker[], jobs: Job[]): Promise<void> {
  const left = [...jobs]
  await Promise.all(
    workers.map(async worker => {
      for (let job = left.shift(); job !== undefined; job = left.shift()) await job(worker)
    }),
  )
}

/** `long`: around every write, also of scenarios that have a short form. `width`: how many workers. */
type SweepForm = { readonly long: boolean; readonly width: number }

/** Rejects when a scenario does not succeed undisturbed: no statement about it is possible then. */
export async function sweep(
  fixture: Fixture,
  scenarios: readonly Scenario[],
  { long, width }: SweepForm,
): Promise<readonly ScenarioResult[]> {
  const workers = Array.from({ length: width }, (): Worker => ({ subject: undefined }))
  const tallies = new Map(scenarios.map(scenario => [scenario, emptyTally()]))
  const points: Job[] = []
  const timed = async (tally: Tally, job: () => Promise<void>): Promise<void> => {
    const started = performance.now()
    await job()
    tally.milliseconds += performance.now() - started
  }
  const begin = (scenario: Scenario, tally: Tally): Job => {
    return worker =>
      timed(tally, async () => {
        const undisturbed = await runUndisturbed({ fixture, worker, scenario })
        const { shortPoints, periodicWrites } = scenario
        const possible = long || shortPoints === undefined ? pointsOf(undisturbed) : shortPointsOf(undisturbed, shortPoints)
        const found = possible.filter(({ write }) => periodicWrites?.test(write) !== true)
        if (found.length === 0) throw new Error(`${scenario.name} writes nothing: there is nothing to sweep`)
        let left = found.length
        const sweepOne = async (next: Worker, point: CrashPoint): Promise<void> => {
          await timed(tally, () => sweepPoint({ fixture, worker: next, scenario }, point, undisturbed, tally))
          left -= 1
          if (left === 0) process.stderr.write(`${scenario.name}: ${tally.survived} of ${tally.points} survived\n`)
        }
        for (const point of found) points.push(next => sweepOne(next, point))
      })
  }
  await work(
    workers,
    [...tallies].map(([scenario, tally]) => begin(scenario, tally)),
  )
  await work(workers, points)
  return [...tallies].map(([scenario, tally]) => resultOf(scenario, tally))
}

function emptyTally(): Tally {
  return { points: 0, survived: 0, milliseconds: 0, notReached: [], failures: [] }
}

function resultOf({ name }: Scenario, { milliseconds, ...tally }: Tally): ScenarioResult {
  return { ...tally, scenario: name, seconds: milliseconds / 1000 }
}
