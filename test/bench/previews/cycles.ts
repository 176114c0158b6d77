// Pull requests that are opened and closed again and again, many at the same time, while GitHub loses, doubles and reorders
// webhooks: what is left of them. Some are closed at once, some while they are built, some when they run; some are pushed to
// before, some reopened after it.

import type { Fault } from '../../../dev/github/faults/kinds.ts'
import type { Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { allImages, commentsLeft, deploymentsLeft, objectsOf, sourcesLeft, tokensLeft } from './leftovers.ts'
import { running } from './one-preview.ts'
import { close, type OpenPull, openFor, push, reopen } from './people.ts'
import { followPullRequests, type Pipeline, repositoryId, until, type World } from './world.ts'

type Sizes = { readonly cycles: number; readonly repositories: number; readonly reported: number }

/** Of each 100 webhooks, one of each. The faults of losses differ in what GitHub's list of deliveries shows of them. */
const faults: ReadonlyMap<number, Fault> = new Map([
  [15, { kind: 'doubled-webhook', newGuid: true }],
  [45, { kind: 'reordered-webhook', milliseconds: 3000 }],
  [75, { kind: 'lost-webhook', record: 'success' }],
  [115, { kind: 'doubled-webhook' }],
  [145, { kind: 'reordered-webhook', milliseconds: 3000 }],
  [175, { kind: 'lost-webhook', record: 'failure' }],
])
const faultsRepeatAfter = 200

/** Longer than it takes to find a webhook that was lost. */
const findSeconds = 300
const settleSeconds = 600

const kinds = ['objects', 'images', 'source addresses', 'environments', 'comments', 'tokens', 'things on the servers'] as const
type Left = Readonly<Record<(typeof kinds)[number], readonly string[]>>

const labels = {
  leaked: (kind: keyof Left): string => `${kind} that are left`,
  never: 'previews that never ran although they were awaited',
} as const

type Run = {
  readonly world: World
  readonly sizes: Sizes
  readonly note: (message: string) => void
  readonly signal: AbortSignal
  readonly pulls: { readonly repository: number; readonly number: number }[]
  readonly counts: { webhooks: number; faults: number; closed: number; reopened: number; never: number }
}

/** Call before each webhook. */
function disturb({ world, counts }: Run): void {
  const fault = faults.get(counts.webhooks++ % faultsRepeatAfter)
  if (fault === undefined) return
  world.platform.github.context.faults.arm(fault, 1)
  counts.faults++
}

async function pushTo(run: Run, place: { readonly repository: number; readonly branch: string }, text: string): Promise<string> {
  disturb(run)
  return push(run.world, { ...place, text })
}

/** Until it runs and, with services of its own, has stored something in them. */
async function runs({ world, counts, note, signal }: Run, pipeline: Pipeline, pull: OpenPull): Promise<void> {
  const { namespace, name } = pipeline
  try {
    await running(world, pipeline, pull, { signal, seconds: findSeconds })
    await world.services?.fill({ namespace, name: `${name}-pr-${pull.pull.number}` })
  } catch (error) {
    if (world.platform.ended() !== undefined || signal.aborted) throw error
    counts.never++
    note(`preview ${pull.pull.number} of ${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** A repository, by its index. */
type Followed = { readonly index: number; readonly pipeline: Pipeline }

/** One pull request, from its branch to its end. */
async function cycle(run: Run, { index, pipeline }: Followed, count: number): Promise<void> {
  const { world, signal, pulls, counts } = run
  const place = { repository: repositoryId(index), branch: `work-${count}` }
  const life = (['at once', 'when it is built', 'when it runs'] as const)[count % 3]
  const head = await pushTo(run, place, place.branch)
  if (life === 'when it is built') world.actor.hold(head)
  disturb(run)
  let opened = await openFor(world, { ...place, head })
  pulls.push({ repository: index, number: opened.pull.number })
  if (life === 'when it is built') {
    const begun = async (): Promise<number | undefined> => world.actor.begunAt(head)
    await until(world, `the build of ${pipeline.name} ${opened.pull.number}`, begun, {
      signal,
      seconds: findSeconds,
      everyMilliseconds: 50,
    })
  }
  if (count % 5 === 4) opened = { ...opened, head: await pushTo(run, place, `${place.branch} again`) }
  if (life === 'when it runs') await runs(run, pipeline, opened)
  disturb(run)
  await close(world, opened.pull)
  if (count % 10 === 9) {
    disturb(run)
    await reopen(world, opened.pull)
    counts.reopened++
    disturb(run)
    await close(world, opened.pull)
  }
  counts.closed++
}

async function whatIsLeft({ world, pulls }: Run, before: readonly string[]): Promise<Left> {
  const [objects, sources, tokens] = await Promise.all([objectsOf(world), sourcesLeft(world), tokensLeft(world)])
  return {
    objects: objects.filter(found => !before.includes(found)),
    images: allImages(world, pulls),
    'source addresses': sources,
    environments: deploymentsLeft(world),
    comments: commentsLeft(world),
    tokens,
    'things on the servers': (await world.services?.left()) ?? [],
  }
}

async function settle(run: Run, before: readonly string[]): Promise<Left> {
  const { world, signal, note } = run
  const end = performance.now() + settleSeconds * 1000
  let said = ''
  const settled = async (): Promise<Left | undefined> => {
    const left = await whatIsLeft(run, before)
    const counts = kinds.filter(kind => left[kind].length > 0).map(kind => `${left[kind].length} ${kind}`)
    const text = counts.join(', ')
    if (said !== text) note(`left: ${text}`)
    said = text
    const isNothing = kinds.every(kind => left[kind].length === 0)
    return isNothing || performance.now() > end ? left : undefined
  }
  return until(world, 'nothing to be left', settled, { signal, seconds: settleSeconds + 60, everyMilliseconds: 1000 })
}

async function measure(run: Run): Promise<readonly Figure[]> {
  const { world, sizes, note, counts } = run
  const { cycles, repositories, reported } = sizes
  const followed: Followed[] = []
  for (let index = 0; index < repositories; index++)
    followed.push({ index, pipeline: await followPullRequests(world, index, { report: index < reported }) })
  const before = await objectsOf(world)
  const liveHeap = async (): Promise<number> => (await world.process.memory()).heapUsed / 1e6
  const heapBefore = await liveHeap()
  const heaps: number[] = []
  const quarter = Math.ceil(cycles / 4)
  const began = performance.now()
  const one = async (repository: Followed): Promise<void> => {
    for (let count = repository.index; count < cycles; count += repositories) {
      await cycle(run, repository, Math.floor(count / repositories))
      if (counts.closed % 10 === 0) note(`${counts.closed} pull requests were closed`)
      if (counts.closed % quarter === 0) heaps.push(await liveHeap())
    }
  }
  // A failure of one ends the others: their next action finds the signal aborted, or the platform ended.
  await Promise.all(followed.map(one))
  const lastClosed = performance.now()
  const left = await settle(run, before)
  const settled = performance.now()
  for (const kind of kinds) for (const what of left[kind].slice(0, 10)) note(`left: ${what}`)
  const heapAfter = await liveHeap()
  const figure = (label: string, value: number, unit = ''): Figure => ({ label, value, unit })
  return [
    figure('cycles', cycles),
    figure('of them reopened once', counts.reopened),
    figure('webhooks that were lost, doubled or reordered', counts.faults),
    figure('of so many actions that send one', counts.webhooks),
    figure('duration', (lastClosed - began) / 1000, 's'),
    figure(labels.never, counts.never),
    figure('last closed to nothing left', (settled - lastClosed) / 1000, 's'),
    ...kinds.map(kind => figure(labels.leaked(kind), left[kind].length)),
    figure('live heap of the platform before', heapBefore, 'MB'),
    ...heaps.map((heap, at) => figure(`live heap after ${at + 1} quarters of them`, heap, 'MB')),
    figure('live heap of the platform after', heapAfter, 'MB'),
  ]
}

export function openAndClose(openWorld: () => Promise<World>, sizes: Sizes, note: (message: string) => void): Measurement {
  return {
    name: 'cycles',
    title: 'pull requests opened and closed while GitHub loses, doubles and reorders webhooks; builds and pods take no time',
    async run(signal) {
      const world = await openWorld()
      const counts = { webhooks: 0, faults: 0, closed: 0, reopened: 0, never: 0 }
      try {
        return await measure({ world, sizes, note, signal, pulls: [], counts })
      } finally {
        await world.close()
      }
    },
    goals: [figureAtMost(labels.never, 0), ...kinds.map(kind => figureAtMost(labels.leaked(kind), 0))],
  }
}
