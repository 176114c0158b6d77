// Steady state: a controller that starts when everything is done must reconcile every object, write nothing, and continue to
// write nothing. Writes are counted twice: by the controller's own client and by the API server's metrics.
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Figure } from '../harness/bench.ts'
import { type MeasuredProgram, startProgram } from '../harness/program.ts'
import { allChildrenExist, allReported, createApplications, deleteEverything, observeDeployments } from './applications.ts'
import { hopeless, memoryOf } from './cold-start.ts'
import type { Fixture } from './fixture.ts'
import { servedRequests } from './observed/served-requests.ts'
import { ourProgram } from './our-program.ts'

export const steadyFigures = {
  objects: 'objects in the caches',
  resync: 'Applications looked at per second, from the start',
  writes: 'writes of the controller, by its client',
  served: 'writes to these kinds, by the API server',
  seconds: 'time watched',
  lists: 'lists of the controller since its start (one for each kind that it caches)',
  failures: 'failed requests of the controller',
  heap: 'heap per 1,000 objects more',
  rss: 'resident memory',
  cpu: 'CPU while at rest, share of one processor',
} as const

export type SteadyStateOptions = {
  readonly applications: number
  readonly watchedSeconds: number
  readonly note: (message: string) => void
}

/** Size of the first memory measurement: its heap contains what a controller needs for any number of objects. */
const firstOf = (applications: number): number => Math.ceil(applications / 10)
/** Each is cached with its Release, Deployment, Service and Ingress. */
const objectsOf = (applications: number): number => applications * 5

async function withController<T>(
  fixture: Fixture,
  signal: AbortSignal,
  work: (program: MeasuredProgram) => Promise<T>,
): Promise<T> {
  const program = await startProgram({ ...ourProgram, environment: { KUBECONFIG: fixture.kubeconfig } }, signal)
  try {
    await program.call({ do: 'start' }, signal)
    return await work(program)
  } finally {
    await program.stop()
  }
}

/**
 * Creates the Applications number `present` to `applications`, and waits for everything that the controller makes of them. The
 * status of a rollout that nobody begins with would change after a minute.
 */
async function fill(fixture: Fixture, present: number, applications: number, signal: AbortSignal): Promise<void> {
  await withController(fixture, signal, async program => {
    await createApplications(fixture.admin, applications, present)
    await allChildrenExist(fixture.admin, applications, hopeless(program, signal))
    await allReported(fixture.admin, applications, hopeless(program, signal))
  })
  await observeDeployments(fixture.admin, applications, present)
}

/** Resolves with the seconds that a controller that started when all was done needed to reconcile every Application. */
async function allReconciled(program: MeasuredProgram, applications: number, signal: AbortSignal): Promise<number> {
  const started = performance.now()
  await waitUntil(
    `${applications} reconciles`,
    async () => (Number((await program.call({ do: 'count' }, signal))['reconciled']) >= applications ? true : undefined),
    { timeoutMilliseconds: limits.minutes, hopeless: hopeless(program, signal) },
  )
  return (performance.now() - started) / 1000
}

function restingHeap(fixture: Fixture, applications: number, signal: AbortSignal): Promise<number> {
  return withController(fixture, signal, async program => {
    await allReconciled(program, applications, signal)
    return (await memoryOf(program, signal)).heapBytes
  })
}

async function watch(
  fixture: Fixture,
  options: SteadyStateOptions,
  firstHeapBytes: number,
  signal: AbortSignal,
): Promise<readonly Figure[]> {
  const { applications, watchedSeconds } = options
  const moreObjects = objectsOf(applications) - objectsOf(firstOf(applications))
  const servedBefore = await servedRequests(fixture.admin)
  return withController(fixture, signal, async program => {
    const seconds = await allReconciled(program, applications, signal)
    options.note(`reconciled ${applications} Applications in ${seconds.toFixed(1)} s; watching for ${watchedSeconds} s`)
    const full = await memoryOf(program, signal)
    const rest = await program.usage()
    // The measurement itself: the writes during this time.
    await sleep(watchedSeconds * 1000, undefined, { signal })
    const end = await program.usage()
    const counts = await program.call({ do: 'count' }, signal)
    const served = (await servedRequests(fixture.admin)).writes - servedBefore.writes
    const figure = (label: string, value: number, unit: string): Figure => ({ label, value, unit })
    return [
      figure(steadyFigures.objects, objectsOf(applications), 'objects'),
      figure(steadyFigures.resync, applications / seconds, '/s'),
      figure(steadyFigures.seconds, watchedSeconds, 's'),
      figure(steadyFigures.writes, Number(counts['writes']), 'writes'),
      figure(steadyFigures.served, served, 'writes'),
      figure(steadyFigures.lists, Number(counts['lists']), 'lists'),
      figure(steadyFigures.failures, Number(counts['failures']), 'requests'),
      figure(steadyFigures.heap, (full.heapBytes - firstHeapBytes) / 1000 / moreObjects, 'MB'),
      figure(steadyFigures.rss, end.rssBytes / 1_000_000, 'MB'),
      figure(steadyFigures.cpu, (end.cpuSeconds - rest.cpuSeconds) / watchedSeconds, 'processors'),
    ]
  })
}

/** Finds the cluster empty and leaves it empty. */
export async function steadyState(
  fixture: Fixture,
  options: SteadyStateOptions,
  signal: AbortSignal,
): Promise<readonly Figure[]> {
  const { applications, note } = options
  const first = firstOf(applications)
  try {
    await fill(fixture, 0, first, signal)
    const firstHeapBytes = await restingHeap(fixture, first, signal)
    await fill(fixture, first, applications, signal)
    note(`${applications} Applications exist, with their children`)
    return await watch(fixture, options, firstHeapBytes, signal)
  } finally {
    await deleteEverything(fixture.admin)
  }
}
