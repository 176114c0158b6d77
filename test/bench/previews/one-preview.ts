// One pull request after the other, on a platform that has nothing else to do: opened, pushed to, closed. kpack and the kubelet
// take no time, so each figure is the platform's share alone, with that of the API server, of GitHub's emulator and of this
// process.
import type { Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { percentile } from '../harness/statistics.ts'
import { imagesLeft, objectsLeft } from './leftovers.ts'
import { close, commentSays, type OpenPull, open, openFor, push } from './people.ts'
import { followPullRequests, type Pipeline, pathOf, repositoryId, secondsUntil, until, type World } from './world.ts'

type Row = { readonly number: number; readonly state: string; readonly url?: string; readonly headCommit: string }

export async function rowsOf({ platform }: World, { namespace, name }: Pipeline): Promise<readonly Row[]> {
  const path = `${pathOf(namespace, 'apppipelines')}/${name}`
  const found = (await platform.admin.call('GET', path)) as { readonly status?: { readonly previews?: readonly Row[] } }
  return found.status?.previews ?? []
}

/** Resolves when the row of the pull request says that this commit runs, and where. */
export async function running(
  world: World,
  pipeline: Pipeline,
  { pull, head }: OpenPull,
  patience: { readonly signal: AbortSignal; readonly seconds?: number },
): Promise<void> {
  await until(
    world,
    `preview ${pull.number} to run`,
    async () => {
      const row = (await rowsOf(world, pipeline)).find(({ number }) => number === pull.number)
      if (row?.state === 'Running' && row.url !== undefined && row.headCommit === head) return true
      throw new Error(JSON.stringify(row))
    },
    patience,
  )
}

const labels = {
  comment: 'opened to the comment “building”, p95',
  url: 'opened to the URL in the status, p95',
  cancelled: 'push to the old build cancelled, p95',
  gone: 'closed to all objects gone, most',
  images: 'closed to the images gone, most',
} as const

type Times = Readonly<Record<'comment' | 'url' | 'cancelled' | 'gone' | 'images', number[]>>

const imagesSeconds = 90

type Place = { readonly world: World; readonly pipeline: Pipeline; readonly signal: AbortSignal }

async function live({ world, pipeline, signal }: Place, index: number, times: Times): Promise<void> {
  const repository = repositoryId(0)
  const since = (at: number): number => (performance.now() - at) / 1000
  const first = `first-${index}`
  const head = await push(world, { repository, branch: first, text: first })
  world.actor.hold(head)
  const opened = await openFor(world, { repository, branch: first, head })
  await until(world, 'the comment', async () => commentSays(world, opened.pull, 'building'), { signal })
  times.comment.push(since(opened.at))
  await until(world, 'the build', async () => world.actor.begunAt(head), { signal })
  // The build goes on; the next commit takes its place.
  const pushedAt = performance.now()
  const next = await push(world, { repository, branch: first, text: `${first} again` })
  const gone = await until(world, 'the old build to be cancelled', async () => world.actor.goneAt(head), { signal })
  times.cancelled.push((gone - pushedAt) / 1000)
  await running(world, pipeline, { ...opened, head: next }, { signal })

  const second = await open(world, repository, `second-${index}`)
  await running(world, pipeline, second, { signal })
  times.url.push(since(second.at))
  for (const { pull } of [opened, second]) {
    const name = `${pipeline.name}-pr-${pull.number}`
    const closedAt = await close(world, pull)
    const left = async (): Promise<true | undefined> => {
      const objects = await objectsLeft(world, name)
      if (objects.length === 0) return true
      throw new Error(objects.join(', '))
    }
    await until(world, `preview ${pull.number} to be gone`, left, { signal, everyMilliseconds: 100 })
    times.gone.push(since(closedAt))
    const withoutImages = async (): Promise<boolean> => imagesLeft(world, pipeline.namespace, name).length === 0
    times.images.push(await secondsUntil(world, closedAt, withoutImages, { signal, seconds: imagesSeconds }))
  }
}

async function measure(
  world: World,
  count: number,
  note: (message: string) => void,
  signal: AbortSignal,
): Promise<readonly Figure[]> {
  const pipeline = await followPullRequests(world, 0)
  const times: Times = { comment: [], url: [], cancelled: [], gone: [], images: [] }
  for (let index = 0; index < count; index++) {
    await live({ world, pipeline, signal }, index, times)
    const last = Object.entries(times).map(([name, all]) => `${name} ${all.at(-1)?.toFixed(2)} s`)
    note(`pull requests ${2 * index + 1} and ${2 * index + 2}: ${last.join(', ')}`)
  }
  const figure = (label: string, value: number): Figure => ({ label, value, unit: 's' })
  return [
    figure('opened to the comment “building”, p50', percentile(times.comment, 50)),
    figure(labels.comment, percentile(times.comment, 95)),
    figure('opened to the URL in the status, p50', percentile(times.url, 50)),
    figure(labels.url, percentile(times.url, 95)),
    figure('push to the old build cancelled, p50', percentile(times.cancelled, 50)),
    figure(labels.cancelled, percentile(times.cancelled, 95)),
    figure('closed to all objects gone, p50', percentile(times.gone, 50)),
    figure(labels.gone, Math.max(...times.gone)),
    figure('closed to the images gone, p50', percentile(times.images, 50)),
    figure(labels.images, Math.max(...times.images)),
  ]
}

export function onePreview(open: () => Promise<World>, count: number, note: (message: string) => void): Measurement {
  return {
    name: 'one after the other',
    title: 'the life of a preview, the platform at rest otherwise; builds and pods take no time',
    async run(signal) {
      const world = await open()
      try {
        return await measure(world, count, note, signal)
      } finally {
        await world.close()
      }
    },
    goals: [
      figureAtMost(labels.comment, 3),
      figureAtMost(labels.url, 3),
      figureAtMost(labels.cancelled, 1),
      figureAtMost(labels.gone, 30),
      figureAtMost(labels.images, 30),
    ],
  }
}
