// Runs one scenario in an environment of its own, undisturbed or with one crash, and says how it ended. The crash is a SIGKILL of the real process in
// the moment that a proxy names; in the same turn every connection of it is cut, so that not one byte more goes in or out. A process that has
// loaded its modules ahead takes over. What it finds is what was written; what the dead one knew is lost.
import { waitUntil } from '../../dev/cluster/wait-until.ts'
import { differences, type FinalState, finalState } from './assertions/final-state.ts'
import { type Environment, openEnvironment } from './environment/environment.ts'
import type { Fixture } from './environment/fixture.ts'
import type { CrashPoint } from './proxies/crash-switch.ts'
import type { Scenario } from './scenario.ts'
import type { Component } from './subject/messages.ts'
import type { Subject } from './subject/subject.ts'

/** Keeps the process between the cases that follow each other. */
export type Worker = { subject: Subject | undefined }

export type Undisturbed = {
  readonly state: FinalState
  /** In the order in which they were done. */
  readonly writes: readonly string[]
}

export type CaseOutcome =
  | { readonly kind: 'survived' }
  /** The write did not happen in this run: nothing was proved. */
  | { readonly kind: 'not-reached' }
  | { readonly kind: 'failed'; readonly problem: string }

const patience = { timeoutMilliseconds: 120_000, everyMilliseconds: 100 }
const quietMilliseconds = 500

/** Resolves when no write was done for a while from now. */
function quiet(environment: Environment): Promise<true> {
  const asked = performance.now()
  return waitUntil(
    'the controllers come to rest',
    async () => performance.now() - Math.max(asked, environment.crash.lastWrite()) > quietMilliseconds || undefined,
    patience,
  ).then(() => true)
}

async function stateOf(environment: Environment, scenario: Scenario): Promise<FinalState> {
  return finalState(environment, scenario.sees, await scenario.more?.(environment))
}

type Session = {
  readonly environment: Environment
  /** The restart after the crash, once there was one. */
  readonly restarted: () => Promise<void> | undefined
}

async function takeSubject(fixture: Fixture, worker: Worker, component: Component): Promise<Subject> {
  const { subject } = worker
  if (subject?.alive() && subject.component === component) return subject
  subject?.kill()
  worker.subject = await fixture.subjects.take(component)
  return worker.subject
}

async function restart(
  fixture: Fixture,
  worker: Worker,
  environment: Environment,
  dead: Subject,
  aheadMilliseconds: number,
): Promise<void> {
  await dead.gone
  const next = await takeSubject(fixture, worker, dead.component)
  environment.crash.revive()
  await next.begin(environment.life(aheadMilliseconds))
}

async function inEnvironment<T>(
  fixture: Fixture,
  worker: Worker,
  scenario: Scenario,
  point: CrashPoint | undefined,
  judge: (session: Session) => Promise<T>,
): Promise<T> {
  const environment = await openEnvironment(fixture, scenario.environment)
  let restarted: Promise<void> | undefined
  try {
    const subject = await takeSubject(fixture, worker, scenario.environment.component)
    await subject.begin(environment.life(0))
    await scenario.prepare?.(environment)
    await quiet(environment)
    const broken = Promise.withResolvers<never>()
    // Only looked at while the scenario acts.
    broken.promise.catch(() => {})
    environment.crash.arm(point, () => {
      subject.kill()
      environment.cut()
      restarted = restart(fixture, worker, environment, subject, scenario.awayMilliseconds ?? 0)
      restarted.catch(broken.reject)
    })
    await Promise.race([scenario.act(environment), broken.promise])
    return await judge({ environment, restarted: () => restarted })
  } catch (error) {
    const log = worker.subject?.log() ?? ''
    // It may be in the middle of something: the next case gets a fresh one.
    worker.subject?.kill()
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n--- the end of the process's log:\n${log}`, {
      cause: error,
    })
  } finally {
    environment.crash.disarm()
    await restarted?.catch(() => {})
    await endLife(worker)
    await environment.close()
  }
}

/** A process that does not end in order is not used again. */
async function endLife(worker: Worker): Promise<void> {
  const { subject } = worker
  try {
    if (subject?.alive()) await subject.end()
  } catch {
    subject?.kill()
  }
  if (!subject?.alive()) worker.subject = undefined
}

export function runUndisturbed(fixture: Fixture, worker: Worker, scenario: Scenario): Promise<Undisturbed> {
  return inEnvironment(fixture, worker, scenario, undefined, async ({ environment }) => {
    await quiet(environment)
    const writes = [...environment.crash.writes()]
    return { state: await stateOf(environment, scenario), writes }
  })
}

/** What a case that failed says is enough to find the cause: the difference and the log. */
export async function runCase(
  fixture: Fixture,
  worker: Worker,
  scenario: Scenario,
  point: CrashPoint,
  wanted: FinalState,
): Promise<CaseOutcome> {
  try {
    return await inEnvironment(fixture, worker, scenario, point, async ({ environment, restarted }) => {
      // What is written last (an Event) may come after what the scenario waited for.
      await quiet(environment)
      if (!environment.crash.fired()) return { kind: 'not-reached' }
      await restarted()
      await waitUntil(
        'the state is that of the undisturbed run',
        async () => {
          await quiet(environment)
          const different = differences(wanted, await stateOf(environment, scenario))
          if (different.length > 0) throw new Error(`\n    ${different.join('\n    ')}`)
          return true
        },
        { timeoutMilliseconds: 30_000, everyMilliseconds: 250 },
      )
      return { kind: 'survived' }
    })
  } catch (error) {
    return { kind: 'failed', problem: error instanceof Error ? error.message : String(error) }
  }
}
