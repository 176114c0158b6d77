// Many pull requests that are opened within a minute, while GitHub enforces its limits: whether each gets its preview, when the
// last state of each stands on GitHub, and what another tenant feels of it.

import { accepted } from '../../soak/tenant.ts'
import type { Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { percentile } from '../harness/statistics.ts'
import { areLimits } from './github-requests.ts'
import { rowsOf } from './one-preview.ts'
import { commentSays, type OpenPull, openFor, push } from './people.ts'
import { followPullRequests, globex, type Pipeline, pathOf, repositoryId, secondsUntil, until, type World } from './world.ts'

const withinMilliseconds = 60_000
const site = 4003
const idlePushes = 10

const labels = {
  missing: 'pull requests without a running preview',
  limited: 'answers of GitHub that its limits refused',
  slower: 'push of another tenant ÷ the same while the platform is idle, p50',
  comments: 'comments that do not say “running” when the observation ends',
  statuses: 'commit statuses that do not say success when the observation ends',
} as const

type Sync = {
  readonly status?: {
    readonly imageCommit?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

/** globex has an Application that follows its repository. */
async function followSite({ platform }: World): Promise<void> {
  const { namespace, developer } = globex
  const { people } = platform
  const made = (kind: string, spec: object) => ({
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind,
    metadata: { name: 'site', namespace },
    spec,
  })
  const application = made('Application', { processes: [{ name: 'web', port: 3000, replicas: 1 }] })
  accepted(await people.as(developer, 'POST', pathOf(namespace, 'applications'), application), 'the Application of globex')
  const source = { installation: 'github', repository: 'globex/site', source: { branch: 'main' }, build: {}, application: 'site' }
  const sync = made('RemoteSync', source)
  accepted(await people.as(developer, 'POST', pathOf(namespace, 'remotesyncs'), sync), 'the RemoteSync of globex')
}

/** Seconds from a push until its image is available. */
async function pushSite(world: World, text: string, signal: AbortSignal): Promise<number> {
  const commit = await push(world, { repository: site, branch: 'main', text })
  const at = performance.now()
  const path = `${pathOf(globex.namespace, 'remotesyncs')}/site`
  const deployed = async (): Promise<true | undefined> => {
    const { status } = (await world.platform.admin.call('GET', path)) as Sync
    const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True')
    return (status?.imageCommit === commit && isReady) || undefined
  }
  await until(world, 'the push of globex', deployed, { signal, everyMilliseconds: 20 })
  return (performance.now() - at) / 1000
}

type Sizes = { readonly pullRequests: number; readonly repositories: number; readonly observedSeconds: number }

/** Evenly over a minute. */
async function openAll(world: World, { pullRequests, repositories }: Sizes, signal: AbortSignal): Promise<readonly OpenPull[]> {
  const branches = Array.from({ length: pullRequests }, (_, index) => ({
    repository: repositoryId(index % repositories),
    branch: `feature-${index}`,
  }))
  const heads: string[] = []
  for (const { repository, branch } of branches) heads.push(await push(world, { repository, branch, text: branch }))
  const began = performance.now()
  const opened: OpenPull[] = []
  for (const [index, place] of branches.entries()) {
    const at = began + (index * withinMilliseconds) / pullRequests
    await until(world, 'its turn', async () => performance.now() >= at || undefined, { signal, everyMilliseconds: 5 })
    opened.push(await openFor(world, { ...place, head: heads[index] ?? '' }))
  }
  return opened
}

async function notRunning(world: World, pipelines: readonly Pipeline[], opened: readonly OpenPull[]): Promise<number> {
  const rows = await Promise.all(pipelines.map(pipeline => rowsOf(world, pipeline)))
  const heads = new Set(rows.flat().flatMap(({ state, headCommit }) => (state === 'Running' ? [headCommit] : [])))
  return opened.filter(({ head }) => !heads.has(head)).length
}

/** Of each commit, the state that was said last. */
function lastStatuses({ platform }: World): ReadonlyMap<string, string> {
  return new Map(platform.github.context.state.statuses.map(({ sha, state }) => [sha, state]))
}

function deployed({ platform }: World): ReadonlySet<string> {
  const { deployments, deploymentStatuses } = platform.github.context.state
  const last = new Map(deploymentStatuses.map(({ deploymentId, state }) => [deploymentId, state]))
  return new Set(deployments.flatMap(({ id, sha }) => (last.get(id) === 'success' ? [sha] : [])))
}

type Shown = { readonly comments: number; readonly statuses: number; readonly deployments: number }

/** How many pull requests do not show their last state yet, by the place where they show it. */
function unshown(world: World, opened: readonly OpenPull[]): Shown {
  const statuses = lastStatuses(world)
  const there = deployed(world)
  return {
    comments: opened.filter(({ pull }) => commentSays(world, pull, 'running') === undefined).length,
    statuses: opened.filter(({ head }) => statuses.get(head) !== 'success').length,
    deployments: opened.filter(({ head }) => !there.has(head)).length,
  }
}

/** Watches until the last state of all is shown everywhere, or the time is over. */
async function showing(world: World, opened: readonly OpenPull[], { since, seconds, signal }: Observation) {
  const arrived: Partial<Record<keyof Shown, number>> = {}
  let last = unshown(world, opened)
  const all = async (): Promise<boolean> => {
    last = unshown(world, opened)
    for (const place of ['comments', 'statuses', 'deployments'] as const)
      if (last[place] === 0) arrived[place] ??= (performance.now() - since) / 1000
    return last.comments + last.statuses + last.deployments === 0
  }
  await secondsUntil(world, since, all, { signal, seconds, everyMilliseconds: 1000 })
  return { last, arrived }
}

type Observation = { readonly since: number; readonly seconds: number; readonly signal: AbortSignal }

/** The median of a push of another tenant while nothing else happens. */
async function idlePush(world: World, signal: AbortSignal): Promise<number> {
  await followSite(world)
  await pushSite(world, 'warm', signal)
  const idle: number[] = []
  for (let count = 0; count < idlePushes; count++) idle.push(await pushSite(world, `idle ${count}`, signal))
  return percentile(idle, 50)
}

/** Pushes again and again until it is stopped. */
function keepPushing(world: World, signal: AbortSignal): { readonly end: () => Promise<readonly number[]> } {
  const over = new AbortController()
  const times: number[] = []
  const pushing = (async () => {
    while (!over.signal.aborted) times.push(await pushSite(world, `busy ${times.length}`, signal))
  })()
  return {
    async end() {
      over.abort()
      await pushing
      return times
    },
  }
}

async function measure(
  world: World,
  sizes: Sizes,
  note: (message: string) => void,
  signal: AbortSignal,
): Promise<readonly Figure[]> {
  const idle = await idlePush(world, signal)
  note(`a push of another tenant takes ${idle.toFixed(2)} s at rest`)
  const pipelines: Pipeline[] = []
  for (let index = 0; index < sizes.repositories; index++) pipelines.push(await followPullRequests(world, index))
  const began = performance.now()
  const other = keepPushing(world, signal)
  const opened = await openAll(world, sizes, signal)
  const since = performance.now()
  note('all are open')
  let missing = sizes.pullRequests
  const allRun = async (): Promise<boolean> => {
    missing = await notRunning(world, pipelines, opened)
    return missing === 0
  }
  const running = await secondsUntil(world, since, allRun, { signal, seconds: 300, everyMilliseconds: 500 })
  const busy = await other.end()
  note(
    `all run ${running.toFixed(1)} s after the last was opened; a push of another tenant took ${percentile(busy, 50).toFixed(2)} s`,
  )
  const { last, arrived } = await showing(world, opened, { since, seconds: sizes.observedSeconds, signal })
  const requests = world.requests.since(began)
  const figure = (label: string, value: number, unit = ''): Figure => ({ label, value, unit })
  return [
    figure('pull requests', sizes.pullRequests),
    figure(labels.missing, missing),
    figure('last opened to all previews running', running, 's'),
    figure(labels.limited, areLimits(requests).length),
    figure('GitHub requests', requests.length),
    figure('of them writes', requests.filter(({ method, path }) => method !== 'GET' && path.includes('/repos')).length),
    figure('push of another tenant, idle, p50', idle, 's'),
    figure('push of another tenant meanwhile, p50', percentile(busy, 50), 's'),
    figure('push of another tenant meanwhile, p95', percentile(busy, 95), 's'),
    figure(labels.slower, percentile(busy, 50) / idle),
    figure('observed after the last was opened', (performance.now() - since) / 1000, 's'),
    figure(labels.comments, last.comments),
    figure(labels.statuses, last.statuses),
    figure('deployments that do not say success when the observation ends', last.deployments),
    figure('last opened to the last comment', arrived.comments ?? Number.NaN, 's'),
    figure('last opened to the last commit status', arrived.statuses ?? Number.NaN, 's'),
    figure('last opened to the last deployment', arrived.deployments ?? Number.NaN, 's'),
  ]
}

export function burst(open: () => Promise<World>, sizes: Sizes, note: (message: string) => void): Measurement {
  return {
    name: 'at once',
    title:
      "pull requests opened within a minute under GitHub's limits, with a comment, a commit status and a deployment for each",
    async run(signal) {
      const world = await open()
      try {
        return await measure(world, sizes, note, signal)
      } finally {
        await world.close()
      }
    },
    goals: [
      figureAtMost(labels.missing, 0),
      figureAtMost(labels.limited, 0),
      figureAtMost(labels.slower, 2),
      figureAtMost(labels.comments, 0),
      figureAtMost(labels.statuses, 0),
    ],
  }
}
