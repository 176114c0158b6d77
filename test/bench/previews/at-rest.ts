// Many open pull requests whose previews run, while nothing happens: what the platform writes and what it asks GitHub. Then the
// platform starts anew, which makes it ask about every repository once, without what it remembered of GitHub's answers.
import { checkpointsName } from '../../../src/broker/audit/checkpoint-map.ts'
import type { Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { usageOf } from '../harness/process-usage.ts'
import type { GitHubRequest } from './github-requests.ts'
import { rowsOf } from './one-preview.ts'
import { open } from './people.ts'
import { followPullRequests, type Pipeline, repositoryId, secondsUntil, until, type World } from './world.ts'

type Sizes = { readonly pullRequests: number; readonly repositories: number; readonly resyncs: number; readonly reported: number }

/** Of the platform in this bench. A resync comes up to a tenth early or late. */
export const resyncSeconds = 60
const shortestResync = resyncSeconds * 0.9 * 1000
/**
 * Nothing was written for so long: what happened before has ended. Longer than writes to GitHub may wait for its limit of a
 * minute.
 */
const quietSeconds = 90

const labels = {
  missing: 'pull requests without a running preview',
  writes: 'writes to the API server but leases and checkpoints',
  checkpoints: 'checkpoints of the audit log, at most one a minute',
  asked: 'requests for the pull requests of one repository within a resync, most',
  counted: 'of all of them, answers that GitHub counts',
  resync: 'started anew to every repository listed',
  writesAnew: 'writes to the API server but leases and checkpoints, after that',
} as const

/** Each check of the pull requests uses a token, and each use is in the audit log, whose checkpoint follows it. */
function isCheckpoint({ resource, name }: { readonly resource: string; readonly name: string | undefined }): boolean {
  return resource === 'configmaps' && name === checkpointsName
}

/** Leases are the heartbeat of the leader election. */
function writesSince({ proxy }: World, since: number): readonly string[] {
  return proxy.log
    .writes(since)
    .filter(write => write.resource !== 'leases' && !isCheckpoint(write))
    .map(({ verb, resource, subresource = '', name = '' }) => `${verb} ${resource}/${name} ${subresource}`)
}

async function untilQuiet(world: World, signal: AbortSignal): Promise<void> {
  const quiet = async (): Promise<true> => {
    const last = writesSince(world, performance.now() - quietSeconds * 1000)
    if (last.length > 0) throw new Error(`${last.length} writes in the last ${quietSeconds} s, such as ${last[0]}`)
    return true
  }
  await until(world, 'the platform to be at rest', quiet, { signal, seconds: 1200, everyMilliseconds: 1000 })
}

/** Requests for lists of pull requests and for single ones, by the id of the repository. */
function byRepository(requests: readonly GitHubRequest[]): ReadonlyMap<string, readonly GitHubRequest[]> {
  const found = requests.flatMap(request => {
    const [, repository] = /\/repositories\/(\d+)\/pulls/.exec(request.path) ?? []
    return repository === undefined ? [] : [{ repository, request }]
  })
  return new Map(
    [...Map.groupBy(found, ({ repository }) => repository)].map(([key, all]) => [key, all.map(({ request }) => request)]),
  )
}

/** The most requests of one repository in any time as long as the shortest resync. */
function maxWithinResync(asked: ReadonlyMap<string, readonly GitHubRequest[]>): number {
  const ofOne = (requests: readonly GitHubRequest[]): number =>
    Math.max(...requests.map(({ at }) => requests.filter(other => other.at >= at && other.at < at + shortestResync).length))
  return Math.max(0, ...[...asked.values()].map(ofOne))
}

async function openAll(world: World, { pullRequests, repositories, reported }: Sizes, note: (message: string) => void) {
  const pipelines: Pipeline[] = []
  for (let index = 0; index < repositories; index++)
    pipelines.push(await followPullRequests(world, index, { report: index < reported }))
  for (let index = 0; index < pullRequests; index++) {
    await open(world, repositoryId(index % repositories), `feature-${index}`)
    if ((index + 1) % 100 === 0) note(`${index + 1} are open`)
  }
  return pipelines
}

async function countMissing(world: World, pipelines: readonly Pipeline[], pullRequests: number): Promise<number> {
  const rows = await Promise.all(pipelines.map(pipeline => rowsOf(world, pipeline)))
  return pullRequests - rows.flat().filter(({ state }) => state === 'Running').length
}

type Run = {
  readonly world: World
  readonly sizes: Sizes
  readonly note: (message: string) => void
  readonly signal: AbortSignal
}

/** What happens while nothing happens. */
async function rest({ world, sizes, note, signal }: Run): Promise<readonly Figure[]> {
  const { process, requests } = world
  const began = performance.now()
  const before = await usageOf(process.pid())
  const seconds = sizes.resyncs * resyncSeconds
  const isOver = async (): Promise<true | undefined> => performance.now() - began >= seconds * 1000 || undefined
  await until(world, 'the end of the observation', isOver, { signal, seconds: seconds + 10, everyMilliseconds: 100 })
  const after = await usageOf(process.pid())
  const writes = writesSince(world, began)
  for (const [what, all] of Map.groupBy(writes, one => one)) note(`at rest, ${all.length} times: ${what}`)
  const all = requests.since(began)
  const asked = byRepository(all)
  const ofPulls = [...asked.values()].flat()
  const kinds = Map.groupBy(
    all.filter(one => !ofPulls.includes(one)),
    ({ method, path }) => `${method} ${path.replaceAll(/\d+/g, 'N')}`,
  )
  for (const [what, some] of kinds) note(`at rest, ${some.length} times: ${what}`)
  return [
    { label: 'observed at rest', value: seconds, unit: 's' },
    { label: labels.writes, value: writes.length, unit: '' },
    { label: labels.checkpoints, value: world.proxy.log.writes(began).filter(isCheckpoint).length, unit: '' },
    { label: 'requests for pull requests', value: ofPulls.length, unit: '' },
    { label: labels.asked, value: maxWithinResync(asked), unit: '' },
    { label: labels.counted, value: ofPulls.filter(({ status }) => status !== 304).length, unit: '' },
    { label: 'other requests to GitHub', value: all.length - ofPulls.length, unit: '' },
    {
      label: 'CPU of the platform at rest, share of one processor',
      value: (after.cpuSeconds - before.cpuSeconds) / seconds,
      unit: 'processors',
    },
    { label: 'memory of the platform at rest', value: after.rssBytes / 1e6, unit: 'MB' },
  ]
}

/** As after an update of the platform: from the time when it is ready. */
async function startAnew({ world, sizes, note, signal }: Run): Promise<readonly Figure[]> {
  const began = performance.now()
  await world.process.replace('SIGTERM')
  const ready = performance.now()
  const allListed = async (): Promise<boolean> => byRepository(world.requests.since(began)).size === sizes.repositories
  const seconds = await secondsUntil(world, ready, allListed, { signal, seconds: 300 })
  await untilQuiet(world, signal)
  const writes = writesSince(world, began)
  for (const [what, all] of Map.groupBy(writes, one => one)) note(`after the start, ${all.length} times: ${what}`)
  return [
    { label: labels.resync, value: seconds, unit: 's' },
    { label: labels.writesAnew, value: writes.length, unit: '' },
  ]
}

async function measure(run: Run): Promise<readonly Figure[]> {
  const { world, sizes, note, signal } = run
  const pipelines = await openAll(world, sizes, note)
  const since = performance.now()
  let missing = sizes.pullRequests
  const allRun = async (): Promise<boolean> => {
    missing = await countMissing(world, pipelines, sizes.pullRequests)
    return missing === 0
  }
  const running = await secondsUntil(world, since, allRun, { signal, seconds: 1200, everyMilliseconds: 1000 })
  note(`all run ${running.toFixed(0)} s after the last was opened`)
  await untilQuiet(world, signal)
  const resting = await rest(run)
  const anew = await startAnew(run)
  return [
    { label: 'pull requests', value: sizes.pullRequests, unit: '' },
    { label: 'repositories', value: sizes.repositories, unit: '' },
    { label: labels.missing, value: missing, unit: '' },
    ...resting,
    ...anew,
  ]
}

export function atRest(openWorld: () => Promise<World>, sizes: Sizes, note: (message: string) => void): Measurement {
  return {
    name: 'at rest',
    title: 'previews that run while nothing happens, then a start of the platform; builds and pods take no time',
    async run(signal) {
      const world = await openWorld()
      try {
        return await measure({ world, sizes, note, signal })
      } finally {
        await world.close()
      }
    },
    goals: [
      figureAtMost(labels.missing, 0),
      figureAtMost(labels.writes, 0),
      figureAtMost(labels.asked, 1),
      figureAtMost(labels.counted, 0),
      figureAtMost(labels.resync, 60),
      figureAtMost(labels.writesAnew, 0),
    ],
  }
}
