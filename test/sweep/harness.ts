// Runs one scenario in its own environment, undisturbed or with one crash, and reports the outcome. The crash is a SIGKILL of
// the real process at the time that a proxy chooses; in the same event-loop turn all its connections are closed, so that no
// further byte passes. A process that has loaded its modules in advance takes over. It finds what was written; what the killed
// process held in memory is lost.

import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { CrashPoint } from '../proxies/crash-switch.ts'
import { differences, type FinalState, finalState } from './assertions/final-state.ts'
import { type Environment, openEnvironment } from './environment/environment.ts'
import type { Fixture } from './environment/fixture.ts'
import type { Scenario } from './scenario.ts'
import type { Component } from './subject/messages.ts'
import type { Subject } from './subject/subject.ts'

/** Keeps the process under test between consecutive cases. */
export type Worker = { subject: Subject | undefined }

/** One scenario on one worker. */
export type ScenarioRun = { readonly fixture: Fixture; readonly worker: Worker; readonly scenario: Scenario }

export type Undisturbed = {
  readonly state: FinalState
  /** In the order in which they were done. */
  readonly writes: readonly string[]
}

export type CaseOutcome =
  | { readonly kind: 'survived' }
  /** The write did not happen in this run, so the case proves nothing. */
  | { readonly kind: 'not-reached' }
  | { readonly kind: 'failed'; readonly problem: string }

const patience = { timeoutMilliseconds: limits.build }
const quietMilliseconds = 500

/** Resolves when no write was made for `quietMilliseconds`, counted from the call, or at once when `ends` says so. */
async function quiet({ crash }: Environment, ends: () => boolean = () => false): Promise<void> {
  const asked = performance.now()
  const isQuiet = (): boolean => performance.now() - Math.max(asked, crash.lastWrite()) > quietMilliseconds
  await waitUntil('the controllers come to rest', async () => isQuiet() || ends() || undefined, patience)
}

async function stateOf(environment: Environment, scenario: Scenario): Promise<FinalState> {
  return finalState(environment, scenario.compares, await scenario.more?.(environment))
}

type Session = {
  readonly environment: Environment
  /** The restart after the crash; undefined before the crash. */
  readonly restarted: () => Promise<void> | undefined
}

async function takeSubject(fixture: Fixture, worker: Worker, component: Component): Promise<Subject> {
  const { subject } = worker
  if (subject?.alive() && subject.component === component) return subject
  subject?.kill()
  worker.subject = await fixture.subjects.take(component)
  return worker.subject
}

type Killed = { readonly subject: Subject /** `performance.now()` at its start. */; readonly startedAt: number }

async function restart(
  { fixture, worker, scenario }: ScenarioRun,
  environment: Environment,
  { subject: killed, startedAt }: Killed,
): Promise<void> {
  const { awayMilliseconds = 0, clockRate = 1 } = scenario
  // As much later by the clock of the killed process, which was ahead already if it was fast.
  const aheadMilliseconds = awayMilliseconds + (performance.now() - startedAt) * (clockRate - 1)
  await killed.gone
  const next = await takeSubject(fixture, worker, killed.component)
  environment.crash.revive()
  await next.start(environment.runSettings({ aheadMilliseconds, clockRate }))
}

async function inEnvironment<T>(
  run: ScenarioRun,
  point: CrashPoint | undefined,
  evaluate: (session: Session) => Promise<T>,
): Promise<T> {
  const { fixture, worker, scenario } = run
  const environment = await openEnvironment(fixture, scenario.environment)
  let restarted: Promise<void> | undefined
  try {
    const subject = await takeSubject(fixture, worker, scenario.environment.component)
    const startedAt = performance.now()
    await subject.start(environment.runSettings({ aheadMilliseconds: 0, clockRate: scenario.clockRate ?? 1 }))
    await scenario.prepare?.(environment)
    await quiet(environment)
    const broken = Promise.withResolvers<never>()
    // Raced with the scenario below; a rejection at another time is handled by `finally`.
    broken.promise.catch(() => {})
    environment.crash.arm(point, () => {
      subject.kill()
      environment.cut()
      restarted = restart(run, environment, { subject, startedAt })
      restarted.catch(broken.reject)
    })
    await Promise.race([scenario.act(environment), broken.promise])
    return await evaluate({ environment, restarted: () => restarted })
  } catch (error) {
    const log = worker.subject?.log() ?? ''
    // Its state is unknown: the next case gets a new process.
    worker.subject?.kill()
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n--- the end of the process's log:\n${log}`, {
      cause: error,
    })
  } finally {
    environment.crash.disarm()
    await restarted?.catch(() => {})
    await stopSubject(worker)
    await environment.close()
  }
}

/** A process that does not stop cleanly is not used again. */
async function stopSubject(worker: Worker): Promise<void> {
  const { subject } = worker
  try {
    if (subject?.alive()) await subject.stop()
  } catch {
    subject?.kill()
  }
  if (!subject?.alive()) worker.subject = undefined
}

export function runUndisturbed(run: ScenarioRun): Promise<Undisturbed> {
  return inEnvironment(run, undefined, async ({ environment }) => {
    const state = await waitUntil(
      'nothing is being deleted any more',
      async () => {
        await quiet(environment)
        const found = await stateOf(environment, run.scenario)
        // What is being deleted is on its way: garbage collection and finalizers may take longer than `quiet` waits for the
        // next write.
        const ending = Object.keys(found).filter(name => found[name]?.includes('"deleting":true'))
        if (ending.length > 0) throw new Error(ending.join(', '))
        return found
      },
      patience,
    )
    return { state, writes: [...environment.crash.writes()] }
  })
}

/** A failed case reports enough to find the cause: the differences and the end of the log. */
export async function runCase(run: ScenarioRun, point: CrashPoint, wanted: FinalState): Promise<CaseOutcome> {
  try {
    return await inEnvironment(run, point, async ({ environment, restarted }) => {
      // The last writes (Events) may come after the state that the scenario waited for. After a crash the end is awaited below.
      await quiet(environment, environment.crash.fired)
      if (!environment.crash.fired()) return { kind: 'not-reached' }
      await restarted()
      await waitUntil(
        'the state is that of the undisturbed run',
        async () => {
          await quiet(environment)
          const different = differences(wanted, await stateOf(environment, run.scenario))
          if (different.length > 0) throw new Error(`\n    ${different.join('\n    ')}`)
          return true
        },
        { everyMilliseconds: 250 },
      )
      return { kind: 'survived' }
    })
  } catch (error) {
    return { kind: 'failed', problem: error instanceof Error ? error.message : String(error) }
  }
}
