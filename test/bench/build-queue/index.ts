// Bench `build-queue`: one tenant queues 200 builds and occupies every slot; how many of them begin before the first build of
// another tenant, and how long after the end of a build that one begins. Through the controller on a real API server; and a
// queue in the order of time, for comparison.
import { join } from 'node:path'
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { KpackBuild } from '../../../src/services/builds/kpack/resources.ts'
import type { Bench, Figure, OpenBench } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { type MeasuredProgram, type ProgramOptions, startProgram } from '../harness/program.ts'
import { percentile } from '../harness/statistics.ts'
import { namespaces } from '../reconcile/applications.ts'
import { type Fixture, startFixture } from '../reconcile/fixture.ts'
import { approveGrants, areQueued, builds, endBuild, follow, installKpack, isRunning, makeTenant } from './objects.ts'

const queued = 200
/** As SEKISHO_PLATFORM_BUILDS says by default. */
const slots = 4

const figures = {
  before: 'builds that begin before the first of another tenant, most',
  delay: 'from the end of a build to the beginning of that one, longest',
} as const

const controller: ProgramOptions = {
  name: 'RemoteSync controller',
  path: process.execPath,
  args: [join(import.meta.dirname, 'controller-process.ts')],
}

const patience = { timeoutMilliseconds: limits.rollout, everyMilliseconds: 10 }

type Place = { readonly admin: AdminClient; readonly program: MeasuredProgram; readonly signal: AbortSignal }

function until<T>({ program, signal }: Place, what: string, check: () => Promise<T | undefined>): Promise<T> {
  const hopeless = async (): Promise<string | undefined> => program.problem() ?? (signal.aborted ? 'the time is over' : undefined)
  return waitUntil(what, check, { ...patience, hopeless })
}

const idOf = ({ metadata }: KpackBuild): string => `${metadata.namespace}/${metadata.name}`

/** Resolves when all of the tenant's builds wait but those that occupy the slots. */
async function fillQueue(place: Place, namespace: string, count: number): Promise<void> {
  for (let number = 0; number < count; number++) await follow(place.admin, namespace, `shop-${number}`)
  await until(place, `${count - slots} queued builds`, async () => {
    await approveGrants(place.admin)
    return areQueued(place.admin, namespace, count - slots)
  })
}

type Turn = { readonly before: number; readonly milliseconds: number }

/**
 * Ends one build of `large` after the other until one of `other` begins; then ends that one, so that the next turn finds what
 * this one found.
 */
async function firstTurn(place: Place, large: string, other: string): Promise<Turn> {
  const { admin } = place
  await follow(admin, other, 'shop')
  await until(place, `${other} to be in the queue`, async () => {
    await approveGrants(admin)
    return areQueued(admin, other, 1)
  })
  for (let before = 0; ; before++) {
    const known = new Set((await builds(admin)).map(idOf))
    const running = (await builds(admin)).find(build => isRunning(build) && build.metadata.namespace === large)
    if (running === undefined) throw new Error(`no build of ${large} runs`)
    const ended = performance.now()
    await endBuild(admin, running)
    const begun = await until(place, 'the next build', async () => (await builds(admin)).find(build => !known.has(idOf(build))))
    const milliseconds = performance.now() - ended
    if (begun.metadata.namespace !== other) continue
    await endBuild(admin, begun)
    await until(
      place,
      'the slot to be taken again',
      async () => (await builds(admin)).filter(isRunning).length === slots || undefined,
    )
    return { before, milliseconds }
  }
}

async function turns({ admin, kubeconfig }: Fixture, count: number, signal: AbortSignal): Promise<readonly Figure[]> {
  const [large = '', ...others] = namespaces
  await installKpack(admin)
  for (const namespace of namespaces) await makeTenant(admin, namespace, namespace === large ? slots : 1)
  const program = await startProgram({ ...controller, environment: { KUBECONFIG: kubeconfig } }, signal)
  try {
    const place = { admin, program, signal }
    await program.call({ do: 'start', platformBuilds: slots }, signal)
    const started = performance.now()
    await fillQueue(place, large, count)
    const seconds = (performance.now() - started) / 1000
    const all: Turn[] = []
    for (const other of others) all.push(await firstTurn(place, large, other))
    const delays = all.map(({ milliseconds }) => milliseconds)
    return [
      { label: 'builds of one tenant in the queue', value: count - slots, unit: 'builds' },
      { label: 'until they were in the queue', value: seconds, unit: 's' },
      { label: 'other tenants, one after the other', value: all.length, unit: 'tenants' },
      { label: figures.before, value: Math.max(...all.map(({ before }) => before)), unit: 'builds' },
      { label: 'from the end of a build to the beginning of that one, p50', value: percentile(delays, 50), unit: 'ms' },
      { label: figures.delay, value: Math.max(...delays), unit: 'ms' },
      { label: 'builds that would begin before it in a queue in the order of time', value: count - slots, unit: 'builds' },
    ]
  } finally {
    await program.stop()
  }
}

export const buildQueue: Bench = {
  name: 'build-queue',
  title: `${queued} builds queued by one tenant that occupies all ${slots} slots, and the first build of each of nine others`,
  budgetSeconds: 300,
  async open({ note, scale }): Promise<OpenBench> {
    const fixture = await startFixture(note)
    return {
      comparisons: [],
      measurements: [
        {
          name: 'turns',
          title: 'the RemoteSync controller on a real API server; GitHub answers at once, and the bench ends the builds',
          run: signal => turns(fixture, Math.max(2 * slots, Math.round(queued * scale)), signal),
          goals: [figureAtMost(figures.before, 1), figureAtMost(figures.delay, 1000)],
        },
      ],
      close: fixture.close,
    }
  },
}
