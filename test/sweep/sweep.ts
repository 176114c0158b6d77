// Sweeps scenarios: runs each once undisturbed, which yields its write points and the expected state, then once with a crash
// before and after every point. Workers run in parallel, each with its own process. What fails is repeated once at the end,
// with nothing beside it.

import { messageOf } from '../../src/lib/errors.ts'
import { playsEveryShortPoint } from '../fixtures/form.ts'
import { sampled } from '../fixtures/in-turn.ts'
import type { CrashPoint } from '../proxies/crash-switch.ts'
import type { Fixture } from './environment/fixture.ts'
import { type CaseOutcome, runCase, runUndisturbed, type ScenarioRun, type Undisturbed, type Worker } from './harness.ts'
import type { Scenario } from './scenario.ts'
import type { ScenarioResult, SweptFailure } from './table.ts'

/** A point whose write does not happen is tried this often: a race in the undisturbed run produced it. */
const tries = 2

/** The crash points of a scenario that a commit chooses in the short form. */
const sampledPoints = 2

/** When so many undisturbed runs end first and none succeeds, it is one broken thing: the others would wait for their limits. */
const maxFailedAtStart = 5

/** More that fail are one broken thing, which a repetition does not explain. */
const maxRepeated = 8

/** The run without a crash, where points are named. */
const undisturbedRun = 'undisturbed'

/** Each write with the number of those of its name until then, from 1. */
function numbered({ writes }: Undisturbed): readonly Pick<CrashPoint, 'write' | 'occurrence'>[] {
  const counts = new Map<string, number>()
  return writes.map(write => {
    const occurrence = (counts.get(write) ?? 0) + 1
    counts.set(write, occurrence)
    return { write, occurrence }
  })
}

/**
 * After every write, and before the first write of each name. The external state before a write is the state after the previous
 * one, so "before" adds only the combinations that concurrent writes can leave behind.
 */
export function pointsOf(undisturbed: Undisturbed): readonly CrashPoint[] {
  return numbered(undisturbed).flatMap((one): CrashPoint[] => {
    const after: CrashPoint = { ...one, when: 'after' }
    return one.occurrence === 1 ? [{ ...one, when: 'before' }, after] : [after]
  })
}

/**
 * Those whose text is chosen; a later write of the same name has its number in brackets at the end of its text. The point before
 * a write is left to the long form when the one after the previous write is chosen.
 */
export function shortPointsOf(undisturbed: Undisturbed, chosen: RegExp): readonly CrashPoint[] {
  const points = pointsOf(undisturbed).filter(point => chosen.test(pointText(point)))
  const isChosen = new Set(points.filter(({ when }) => when === 'after').map(pointText))
  const writes = numbered(undisturbed)
  const follows = new Set(
    writes
      .filter((_, index) => {
        const previous = writes[index - 1]
        return previous !== undefined && isChosen.has(pointText({ ...previous, when: 'after' }))
      })
      .map(one => pointText({ ...one, when: 'before' })),
  )
  return points.filter(point => !follows.has(pointText(point)))
}

export function pointText({ when, write, occurrence }: CrashPoint): string {
  return `${when} ${write}${occurrence === 1 ? '' : ` (${occurrence})`}`
}

type Tally = {
  points: number
  survived: number
  milliseconds: number
  readonly notReached: string[]
  readonly failures: SweptFailure[]
  readonly flaky: SweptFailure[]
}

async function tryPoint(run: ScenarioRun, point: CrashPoint, undisturbed: Undisturbed): Promise<CaseOutcome> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await runCase(run, point, undisturbed.state)
    if (outcome.kind !== 'not-reached' || attempt === tries) return outcome
  }
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

/** What failed and may be repeated. `again` resolves to what is wrong the second time. */
type Red = {
  readonly tally: Tally
  readonly point: string
  readonly problem: string
  readonly again: (worker: Worker) => Promise<string | undefined>
}

/** One after the other, each with a new process. */
async function repeatAlone(red: readonly Red[]): Promise<void> {
  for (const { tally, point, problem, again } of red) {
    const second =
      red.length > maxRepeated ? `not tried: ${red.length} failed, one broken thing` : await again({ subject: undefined })
    if (second === undefined) {
      tally.survived += 1
      tally.flaky.push({ point, problem, second: 'survived' })
    } else tally.failures.push({ point, problem, second })
  }
}

type SweepForm = {
  /** Around every write. */
  readonly long: boolean
  /** How many workers. */
  readonly width: number
  /** Only this one, by its text. */
  readonly point?: string | undefined
  /** The commit, which chooses some of the points of the short form. Undefined: all of them. */
  readonly sampleOf?: string | undefined
}

/** Never rejects because of a scenario: one that does not succeed undisturbed has failed, and nothing more is known of it. */
export async function sweep(
  fixture: Fixture,
  scenarios: readonly Scenario[],
  { long, width, point: wanted, sampleOf }: SweepForm,
): Promise<readonly ScenarioResult[]> {
  const workers = Array.from({ length: width }, (): Worker => ({ subject: undefined }))
  const tallies = new Map(scenarios.map(scenario => [scenario, emptyTally()]))
  const points: Job[] = []
  const red: Red[] = []
  const timed = async <T>(tally: Tally, job: () => Promise<T>): Promise<T> => {
    const started = performance.now()
    try {
      return await job()
    } finally {
      tally.milliseconds += performance.now() - started
    }
  }
  const fail = (scenario: Scenario, one: Red): void => {
    red.push(one)
    process.stderr.write(`\n✗ ${scenario.name}, ${one.point}\n  ${one.problem}\n`)
  }
  const sweepOne = async (run: ScenarioRun, point: CrashPoint, undisturbed: Undisturbed, tally: Tally): Promise<void> => {
    const text = pointText(point)
    const outcome = await timed(tally, () => tryPoint(run, point, undisturbed))
    if (outcome.kind === 'not-reached') return void tally.notReached.push(text)
    tally.points += 1
    if (outcome.kind === 'survived') {
      tally.survived += 1
      return
    }
    const again = async (worker: Worker): Promise<string | undefined> => {
      const second = await timed(tally, () => tryPoint({ ...run, worker }, point, undisturbed))
      return second.kind === 'survived' ? undefined : second.kind === 'failed' ? second.problem : 'its write did not happen'
    }
    fail(run.scenario, { tally, point: text, problem: outcome.problem, again })
  }
  const begin = async (worker: Worker, scenario: Scenario, tally: Tally): Promise<void> => {
    const undisturbed = await timed(tally, () => runUndisturbed({ fixture, worker, scenario }))
    if (wanted === undisturbedRun) return
    const found = chosenPoints(scenario, undisturbed, { long, point: wanted, sampleOf })
    let left = found.length
    for (const point of found)
      points.push(async next => {
        await sweepOne({ fixture, worker: next, scenario }, point, undisturbed, tally)
        left -= 1
        if (left === 0) process.stderr.write(`${scenario.name}: ${tally.survived} of ${tally.points} survived\n`)
      })
  }
  let succeeded = false
  let failedAtStart = 0
  const problemOf = (begun: Promise<void>): Promise<string | undefined> => begun.then(() => undefined, messageOf)
  const begins = [...tallies].map(
    ([scenario, tally]): Job =>
      async worker => {
        const isBroken = !succeeded && failedAtStart >= maxFailedAtStart
        const problem = isBroken
          ? `not tried: the first ${failedAtStart} undisturbed runs failed, one broken thing`
          : await problemOf(begin(worker, scenario, tally))
        if (problem === undefined) {
          succeeded = true
          return
        }
        failedAtStart += 1
        tally.points += 1
        fail(scenario, { tally, point: undisturbedRun, problem, again: next => problemOf(begin(next, scenario, tally)) })
      },
  )
  await work(workers, begins)
  await repeatAlone(red.splice(0))
  await work(workers, points)
  await repeatAlone(red)
  return [...tallies].map(([scenario, tally]) => resultOf(scenario, tally))
}

/** @throws when there is none: nothing would be proven */
function chosenPoints(
  scenario: Scenario,
  undisturbed: Undisturbed,
  { long, point, sampleOf }: Omit<SweepForm, 'width'>,
): readonly CrashPoint[] {
  const { name, shortPoints, periodicWrites } = scenario
  const isAll = long || shortPoints === 'all' || point !== undefined
  const possible = isAll || shortPoints === undefined ? pointsOf(undisturbed) : shortPointsOf(undisturbed, shortPoints)
  const wanted = possible.filter(({ write }) => periodicWrites?.test(write) !== true)
  const isWhole = isAll || sampleOf === undefined || (shortPoints !== undefined && playsEveryShortPoint(scenario))
  const swept = isWhole ? wanted : sampled(wanted, pointText, sampledPoints, `${sampleOf} ${name}`)
  const found = swept.filter(one => point === undefined || pointText(one) === point)
  if (found.length === 0)
    throw new Error(
      `${name} ${point === undefined ? 'writes nothing' : `does not have the point “${point}”`}: there is nothing to sweep`,
    )
  return found
}

function emptyTally(): Tally {
  return { points: 0, survived: 0, milliseconds: 0, notReached: [], failures: [], flaky: [] }
}

function resultOf({ name }: Scenario, { milliseconds, ...tally }: Tally): ScenarioResult {
  return { ...tally, scenario: name, seconds: milliseconds / 1000 }
}
