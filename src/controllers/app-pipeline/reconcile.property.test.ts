// The invariant of previews over thousands of histories: pull requests change, webhooks are lost, doubled and late, GitHub
// fails and contradicts itself, caches are behind, processes end between any two writes. In the end the previews are exactly
// those of the open pull requests that pass, each with the services that it has for itself, nothing was removed in doubt, and
// with the AppPipeline all goes. On a real platform: test/integration/preview-invariant.test.ts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import type { PullRequest } from '../../github/index.ts'
import { pull as pullOf, repository } from './testing/app-pipeline.ts'
import { createSmallWorld, type Mood, type SmallWorld, sweepMilliseconds } from './testing/small-world.ts'

const forkRepository = 9
const openAtFirst = 20
const policy = {
  ...{ drafts: false, bots: false, forks: 'Approved' as const },
  ...{ baseBranches: ['main'], labels: ['preview'], withoutLabels: ['hold'] },
}

const services = [
  { name: 'db', instance: 'shared', access: 'ReadWrite' as const },
  { name: 'pictures', bucket: 'shared', access: 'ReadWrite' as const },
]

const template: AppPipeline['spec']['template'] = {
  application: { chart: 'web', services },
  services: [
    { name: 'db', class: 'postgresql' },
    { name: 'pictures', class: 'bucket' },
  ],
  public: { services: ['db', 'pictures'] },
  source: 'Head',
  build: { strategy: 'Buildpacks', timeoutSeconds: 900 },
}

const changes = ['open', 'push', 'close', 'reopen', 'label', 'hold', 'draft', 'retarget', 'skip', 'approve'] as const
const moods: readonly Mood[] = ['well', 'well', 'well', 'down', 'empty', 'hidden']
const step = fc.record({
  change: fc.constantFrom(...changes),
  at: fc.nat(),
  /** How often the webhook comes: 0 when it is lost. */
  webhooks: fc.constantFrom(0, 1, 1, 1, 2),
  mood: fc.constantFrom(...moods),
  observed: fc.constantFrom(0, 1, 3, 100, 100),
  /** After so many half writes of the reconcile the process ends. */
  crash: fc.option(fc.integer({ min: 0, max: 24 }), { freq: 4, nil: undefined }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

type History = { readonly world: SmallWorld; readonly approved: Set<string>; commits: number }

const toggled = (labels: readonly string[], label: string): readonly string[] =>
  labels.includes(label) ? labels.filter(one => one !== label) : [...labels, label]

function commit(history: History): string {
  history.commits += 1
  return history.commits.toString(16).padStart(40, '0')
}

function open(history: History): void {
  const { world } = history
  const number = world.github.pulls.size + 1
  const changes = { headCommit: commit(history), labels: number % 5 === 0 ? [] : ['preview'], draft: number % 7 === 0 }
  const fork = number % 4 === 0 ? { headRepository: forkRepository } : {}
  world.github.pulls.set(number, pullOf(number, { ...changes, ...fork, updatedAt: world.clock.now().toISOString() }))
}

function changed(history: History, pull: PullRequest, change: Step['change']): Partial<PullRequest> {
  switch (change) {
    case 'push':
      return pull.state === 'open' ? { headCommit: commit(history) } : {}
    case 'close':
      return { state: 'closed' }
    case 'reopen':
      return { state: 'open' }
    case 'label':
      return { labels: toggled(pull.labels, 'preview') }
    case 'hold':
      return { labels: toggled(pull.labels, 'hold') }
    case 'draft':
      return { draft: !pull.draft }
    case 'retarget':
      return { baseBranch: pull.baseBranch === 'main' ? 'next' : 'main' }
    case 'skip':
      return { skips: !pull.skips }
    case 'approve':
      history.approved.add(`${pull.number}/${pull.headCommit}`)
      history.world.approve(pull.number, pull.headCommit)
      return {}
    case 'open':
      open(history)
      return {}
  }
}

/** The policy, in words of its own. */
function passes(approved: ReadonlySet<string>, pull: PullRequest): boolean {
  const isApproved = pull.headRepository === repository || approved.has(`${pull.number}/${pull.headCommit}`)
  const isMeant = pull.labels.includes('preview') && !pull.labels.includes('hold') && pull.baseBranch === 'main' && !pull.skips
  return pull.state === 'open' && !pull.draft && isMeant && isApproved
}

async function take(history: History, { change, at, webhooks, mood, observed, crash }: Step): Promise<void> {
  const { world } = history
  const pull = [...world.github.pulls.values()][at % world.github.pulls.size]
  if (pull !== undefined) world.github.pulls.set(pull.number, { ...pull, ...changed(history, pull, change) })
  world.advance(1000)
  world.github.mood = mood
  for (let count = 0; count < webhooks; count++) {
    world.wake()
    world.observe(observed)
    await world.reconcile(crash)
  }
}

/** GitHub is well, the resync comes, and everybody does what they do until nobody has anything left to do. */
async function rest({ world }: History): Promise<void> {
  world.github.mood = 'well'
  world.advance(sweepMilliseconds)
  for (let round = 0; ; round++) {
    const before = world.version()
    world.observe()
    await world.reconcile()
    world.observe()
    world.runAll()
    world.observe()
    await world.reconcile()
    // What the RemoteSyncs report is written each time.
    if (world.version() - before === world.remoteSyncs().length) return
    expect(round, 'it never comes to rest').toBeLessThan(10)
  }
}

function expectExactly(history: History, limit: number): void {
  const { world } = history
  const passing = [...world.github.pulls.values()].filter(pull => passes(history.approved, pull)).map(({ number }) => number)
  const found = world.applications()
  expect([world.remoteSyncs(), world.instances(), world.buckets()]).toEqual([found, found, found])
  if (passing.length <= limit) expect(found).toEqual(passing)
  else expect([found.length, found.every(number => passing.includes(number))]).toEqual([limit, true])
  const { previews = [], counts } = world.pipeline()?.status ?? {}
  expect(previews.filter(({ state }) => state === 'Running').map(({ number }) => number)).toEqual(found)
  const opened = [...world.github.pulls.values()].filter(({ state }) => state === 'open')
  expect(previews.map(({ number, headCommit }) => [number, headCommit])).toEqual(
    opened.map(({ number, headCommit }) => [number, headCommit]),
  )
  expect([counts?.open, counts?.running]).toEqual([opened.length, found.length])
  expect(world.doubtful).toEqual([])
}

test.each([
  ['are lost, doubled and late', false],
  ['never come', true],
])(
  'whatever happens and whichever webhooks come: in the end exactly the previews that may run exist, when webhooks %s',
  async (_what, allAreLost) => {
    const histories = fc.record({
      steps: fc.array(step, { minLength: 20, maxLength: 60 }),
      limit: fc.constantFrom(100, 100, 4),
      bySum: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(histories, async ({ steps, limit, bySum }) => {
        const approved = new Set<string>()
        const rules = { passes: (pull: PullRequest) => passes(approved, pull), limited: limit < 100 }
        // By number, or by what one preview requests: both leave room for as many.
        const limits = bySum ? { previews: 100, resources: { cpu: `${limit * 50}m` } } : { previews: limit }
        const history: History = { world: createSmallWorld({ policy, limits, template }, rules), approved, commits: 0 }
        const { world } = history
        while (world.github.pulls.size < openAtFirst) open(history)
        for (const [index, one] of steps.entries()) {
          await take(history, allAreLost ? { ...one, webhooks: 0 } : one)
          if (index % 20 === 19) {
            await rest(history)
            expectExactly(history, limit)
          }
        }
        for (const pull of world.github.pulls.values()) world.github.pulls.set(pull.number, { ...pull, state: 'closed' })
        await rest(history)
        expectExactly(history, limit)
        expect(world.pipeline()?.status?.previews).toBeUndefined()
      }),
      { numRuns: 60, endOnFailure: true },
    )
  },
)

test('an AppPipeline that is deleted takes all previews with it, also while GitHub does not answer and whenever the process ends', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 6 }), async crashes => {
      const world = createSmallWorld({ policy, template }, { passes: () => true, limited: false })
      const history: History = { world, approved: new Set(), commits: 0 }
      while (world.github.pulls.size < openAtFirst) open(history)
      await rest(history)
      expect(world.applications().length).toBeGreaterThan(5)
      world.github.mood = 'down'
      world.remove()
      for (const crash of crashes) {
        world.observe(crash)
        await world.reconcile(crash)
      }
      for (let round = 0; round < 5; round++) {
        world.observe()
        await world.reconcile()
        world.runAll()
      }
      const left = [world.applications(), world.remoteSyncs(), world.instances(), world.buckets(), world.pipeline()]
      expect(left).toEqual([[], [], [], [], undefined])
    }),
    { numRuns: 100, endOnFailure: true },
  )
})
