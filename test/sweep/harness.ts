// Runs one scenario in a world of its own, undisturbed or with one crash, and says how it ended. The crash is a SIGKILL of the real process in
// the moment that a proxy names; in the same turn every connection of it is cut, so that not one byte more goes in or out. A process that has
// loaded its modules ahead takes over. What it finds is what was written; what the dead one knew is lost.
import { waitUntil } from '../../dev/cluster/wait-until.ts'
import { differences, type FinalState, finalState } from './assertions/final-state.ts'
import { openWorld, type World } from './environment/environment.ts'
import type { Site } from './environment/fixture.ts'
import type { CrashPoint } from './proxies/crash-switch.ts'
import type { Scenario } from './scenario.ts'
import type { Part } from './subject/messages.ts'
import type { Subject } from './subject/subject.ts'

/** Keeps the process between the cases that follow each other. */
export type Lane = { subject: Subject | undefined }

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
function quiet(world: World): Promise<true> {
  const asked = performance.now()
  return waitUntil(
    'the controllers come to rest',
    async () => performance.now() - Math.max(asked, world.crash.lastWrite()) > quietMilliseconds || undefined,
    patience,
  ).then(() => true)
}

async function stateOf(world: World, scenario: Scenario): Promise<FinalState> {
  return finalState(world, scenario.sees, await scenario.more?.(world))
}

type Session = {
  readonly world: World
  /** The restart after the crash, once there was one. */
  readonly restarted: () => Promise<void> | undefined
}

async function takeSubject(site: Site, lane: Lane, part: Part): Promise<Subject> {
  const { subject } = lane
  if (subject?.alive() && subject.part === part) return subject
  subject?.kill()
  lane.subject = await site.subjects.take(part)
  return lane.subject
}

async function restart(site: Site, lane: Lane, world: World, dead: Subject, aheadMilliseconds: number): Promise<void> {
  await dead.gone
  const next = await takeSubject(site, lane, dead.part)
  world.crash.revive()
  await next.begin(world.life(aheadMilliseconds))
}

async function inWorld<T>(
  site: Site,
  lane: Lane,
  scenario: Scenario,
  point: CrashPoint | undefined,
  judge: (session: Session) => Promise<T>,
): Promise<T> {
  const world = await openWorld(site, scenario.world)
  let restarted: Promise<void> | undefined
  try {
    const subject = await takeSubject(site, lane, scenario.world.part)
    await subject.begin(world.life(0))
    await scenario.prepare?.(world)
    await quiet(world)
    const broken = Promise.withResolvers<never>()
    // Only looked at while the scenario acts.
    broken.promise.catch(() => {})
    world.crash.arm(point, () => {
      subject.kill()
      world.cut()
      restarted = restart(site, lane, world, subject, scenario.awayMilliseconds ?? 0)
      restarted.catch(broken.reject)
    })
    await Promise.race([scenario.act(world), broken.promise])
    return await judge({ world, restarted: () => restarted })
  } catch (error) {
    const log = lane.subject?.log() ?? ''
    // It may be in the middle of something: the next case gets a fresh one.
    lane.subject?.kill()
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n--- the end of the process's log:\n${log}`, {
      cause: error,
    })
  } finally {
    world.crash.disarm()
    await restarted?.catch(() => {})
    await endLife(lane)
    await world.close()
  }
}

/** A process that does not end in order is not used again. */
async function endLife(lane: Lane): Promise<void> {
  const { subject } = lane
  try {
    if (subject?.alive()) await subject.end()
  } catch {
    subject?.kill()
  }
  if (!subject?.alive()) lane.subject = undefined
}

export function runUndisturbed(site: Site, lane: Lane, scenario: Scenario): Promise<Undisturbed> {
  return inWorld(site, lane, scenario, undefined, async ({ world }) => {
    await quiet(world)
    const writes = [...world.crash.writes()]
    return { state: await stateOf(world, scenario), writes }
  })
}

/** What a case that failed says is enough to find the cause: the difference and the log. */
export async function runCase(
  site: Site,
  lane: Lane,
  scenario: Scenario,
  point: CrashPoint,
  wanted: FinalState,
): Promise<CaseOutcome> {
  try {
    return await inWorld(site, lane, scenario, point, async ({ world, restarted }) => {
      // What is written last (an Event) may come after what the scenario waited for.
      await quiet(world)
      if (!world.crash.fired()) return { kind: 'not-reached' }
      await restarted()
      await waitUntil(
        'the state is that of the undisturbed run',
        async () => {
          await quiet(world)
          const different = differences(wanted, await stateOf(world, scenario))
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
