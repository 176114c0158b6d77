// Previews: the controllers of AppPipelines, RemoteSyncs and Applications, real git and a real API server against the GitHub
// emulator. The tests act as kpack, the grant controller, the kubelet, and the people who approve.
import { beforeEach, describe, expect, test } from 'vitest'
import { createComment } from '../../dev/github/actions/pull-requests/comments.ts'
import { setDraft, setPullRequestState } from '../../dev/github/actions/pull-requests/pull-requests.ts'
import { appPipeline } from '../../src/api/apps/app-pipeline.ts'
import { application } from '../../src/api/apps/application.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import type { Fetch } from '../../src/github/index.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { clock, github, renderer, useEmulatedGitHub } from '../fixtures/emulated-github.ts'
import { objectsOf, type Previews, startPipelineFixture } from '../fixtures/pipeline-fixture.ts'
import { actsOn, shop } from '../fixtures/pull-requests.ts'
import { fieldManager } from '../fixtures/remote-sync-fixture.ts'
import { setStatus } from '../fixtures/statuses.ts'

useEmulatedGitHub()

const { push, open, pullOf, actionOf, fork, hub } = actsOn(
  () => github,
  () => clock,
)

/** Which requests about pull requests were sent, and how GitHub answered. `list` replaces the answer to the list. */
let asked: { readonly path: string; readonly status: number }[] = []
let list: (() => Response) | undefined
const recording: Fetch = async (url, init) => {
  const { pathname: path } = new URL(url)
  const answer = list !== undefined && path.endsWith('/pulls') ? list() : await fetch(url, init)
  asked.push({ path, status: answer.status })
  return answer
}
const json = (body: unknown): Response => new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })
beforeEach(() => {
  asked = []
  list = undefined
})

const start = (changes: Record<string, unknown> = {}): Promise<Previews> =>
  startPipelineFixture(renderer, { hub: hub(), fetch: recording, changes })

describe('a preview', () => {
  test('comes with a pull request, follows its commits, and goes when it is closed', async () => {
    const fixture = await start({
      env: [
        { name: 'PULL_REQUEST', fact: 'Number' },
        { name: 'BRANCH', fact: 'HeadBranch' },
        { name: 'SELF', fact: 'Url' },
      ],
      host: '{branch}-{number}',
    })
    const { client, namespace } = fixture
    expect((await readyReason(client, appPipeline, { namespace, name: 'shop' }, 'UpToDate')).status?.counts).toEqual({
      open: 0,
      running: 0,
      waiting: 0,
    })
    const first = await push('dave', 'acme/shop', 'feature/$(MODE)', 'one')
    const { number } = await open('dave', 'feature/$(MODE)', '🚀 `<script>` $(reboot)')
    await fixture.wakePipeline()
    await fixture.approve(`shop-pr-${number}`)
    const host = `feature-mode-${number}.${namespace}.localhost`
    const app = await waitUntil('the Application', () => client.get(application, { namespace, name: `shop-pr-${number}` }))
    expect(app.spec).toMatchObject({
      domains: [host],
      env: [
        { name: 'MODE', value: 'preview' },
        { name: 'PULL_REQUEST', value: String(number) },
        { name: 'BRANCH', value: 'feature/$(MODE)' },
        { name: 'SELF', value: `http://${host}:8080` },
      ],
    })
    expect(app.metadata.labels).toMatchObject({
      'sekisho.dev/app-pipeline': 'shop',
      'sekisho.dev/pull-request': String(number),
      'sekisho.dev/repository': String(shop),
    })
    await fixture.rows({ [number]: 'Building' })
    await fixture.build(number, first, 1)
    const running = await fixture.rows({ [number]: 'Running' })
    expect(running.status?.previews?.[0]).toMatchObject({ url: `http://${host}:8080`, headCommit: first, headRepository: shop })
    expect(running.status?.counts).toEqual({ open: 1, running: 1, waiting: 0 })

    const second = await push('dave', 'acme/shop', 'feature/$(MODE)', 'two')
    await fixture.wakePipeline()
    await fixture.build(number, second, 2)

    await setPullRequestState(actionOf('dave'), pullOf(number), 'closed')
    await fixture.wakePipeline()
    await fixture.rows({})
    expect(await fixture.existing()).toEqual([])
    expect(await client.list(kpackBuilds, { namespace })).toEqual([])
  })

  test('rests: an unrelated change and a webhook without news write the wake only, and cost one conditional request', async () => {
    const fixture = await start()
    const commit = await push('dave', 'acme/shop', 'feature', 'one')
    const { number } = await open('dave', 'feature')
    await fixture.wakePipeline()
    await fixture.approve(`shop-pr-${number}`)
    await fixture.build(number, commit, 1)
    const handled = (): Promise<unknown> =>
      waitUntil('the wake is handled', async () => fixture.writes.includes('status AppPipeline shop'))
    // GitHub has computed the merge since the list was read.
    fixture.writes.length = 0
    await fixture.wakePipeline()
    await handled()
    asked = []
    fixture.writes.length = 0
    const key = { namespace: fixture.namespace, name: 'shop' }
    const touched = { metadata: { annotations: { touched: 'yes' } } }
    await fixture.client.mergePatch(appPipeline, key, touched, { fieldManager })
    await fixture.wakePipeline()
    await handled()
    expect(fixture.writes).toEqual(['status AppPipeline shop'])
    // GitHub does not count a 304.
    expect(asked.map(({ status }) => status)).toEqual([304])
    expect(asked[0]?.path).toMatch(/\/repositories\/4001\/pulls$/)
  })

  test('is left out above the limit, the one with the newest activity first; is paused; and goes with its AppPipeline', async () => {
    const fixture = await start({ limits: { previews: 2 } })
    const { client, namespace } = fixture
    const numbers: number[] = []
    for (const branch of ['a', 'b', 'c']) {
      await push('dave', 'acme/shop', branch, branch)
      numbers.push((await open('dave', branch)).number)
    }
    const [a = 0, b = 0, c = 0] = numbers
    await fixture.wakePipeline()
    await fixture.rows({ [a]: 'LeftOut', [b]: 'Waiting', [c]: 'Waiting' })
    expect(await fixture.existing()).toEqual(objectsOf(b, c))
    await push('dave', 'acme/shop', 'a', 'more')
    await fixture.wakePipeline()
    const moved = await fixture.rows({ [a]: 'Waiting', [b]: 'LeftOut', [c]: 'Waiting' })
    expect(moved.status?.previews?.find(({ number }) => number === b)?.reason).toBe('LimitReached')
    await waitUntil('the one left out is gone', async () => (await fixture.existing()).length === 4)
    expect(await fixture.existing()).toEqual(objectsOf(a, c))

    await fixture.applyPipeline({ paused: [c] })
    await fixture.rows({ [a]: 'Waiting', [b]: 'LeftOut', [c]: 'Paused' })
    expect((await client.get(application, { namespace, name: `shop-pr-${c}` }))?.spec.suspend).toBe(true)
    expect((await client.get(remoteSync, { namespace, name: `shop-pr-${c}` }))?.spec.suspend).toBe(true)
    await fixture.applyPipeline({ paused: [] })
    await fixture.rows({ [a]: 'Waiting', [b]: 'LeftOut', [c]: 'Waiting' })
    await waitUntil(
      'it goes on',
      async () => (await client.get(application, { namespace, name: `shop-pr-${c}` }))?.spec.suspend === undefined,
    )

    // The sum of what they request: one of 50m fits besides the newest, and no other.
    await fixture.applyPipeline({ limits: { previews: 10, resources: { cpu: '50m', memory: '1Gi' } } })
    const summed = await fixture.rows({ [a]: 'Waiting', [b]: 'LeftOut', [c]: 'LeftOut' })
    expect(summed.status).toMatchObject({ requested: { cpu: '50m', memory: '256Mi' } })
    expect(summed.status?.previews?.find(({ number }) => number === c)?.message).toContain('spec.limits.resources.cpu')

    await client.delete(appPipeline, { namespace, name: 'shop' })
    await waitUntil('all is gone', async () => (await fixture.existing()).length === 0)
    await waitUntil('it is gone', async () => (await client.get(appPipeline, { namespace, name: 'shop' })) === undefined)
  })

  test('goes when nobody has pushed for so many hours, and comes back with the next commit', async () => {
    const fixture = await start({ limits: { previews: 10, idleHours: 2 } })
    const { namespace } = fixture
    const commit = await push('dave', 'acme/shop', 'feature', 'one')
    const { number } = await open('dave', 'feature')
    await fixture.wakePipeline()
    await fixture.approve(`shop-pr-${number}`)
    await fixture.build(number, commit, 1)
    const { status } = await fixture.rows({ [number]: 'Running' })
    // Three hours have passed, in which somebody commented.
    const activeAt = new Date(Date.now() - 3 * 3_600_000).toISOString()
    const previews = status?.previews?.map(row => ({ ...row, activeAt }))
    await setStatus(appPipeline, namespace, 'shop', { previews })
    createComment(actionOf('dave'), number, 'Is anybody there?')
    await fixture.wakePipeline()
    const idle = await fixture.rows({ [number]: 'LeftOut' })
    expect(idle.status?.previews?.[0]).toMatchObject({ reason: 'Idle', activeAt })
    await waitUntil('it is gone', async () => (await fixture.existing()).length === 0)
    const next = await push('dave', 'acme/shop', 'feature', 'two')
    await fixture.wakePipeline()
    await fixture.approve(`shop-pr-${number}`)
    await fixture.build(number, next, 2)
  })

  test('never takes over an object that is not of its AppPipeline, and says so', async () => {
    const fixture = await start()
    await push('dave', 'acme/shop', 'feature', 'one')
    const { number } = await open('dave', 'feature')
    await fixture.applyApplication(`shop-pr-${number}`)
    await fixture.wakePipeline()
    const { status } = await fixture.rows({ [number]: 'Failed' })
    expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'False', reason: 'NameConflict' })
    const [row] = status?.previews ?? []
    expect(row?.message).toContain(`Application shop-pr-${number} exists`)
    const left = await fixture.client.get(application, { namespace: fixture.namespace, name: `shop-pr-${number}` })
    expect(left?.metadata.ownerReferences).toBeUndefined()
    await setPullRequestState(actionOf('dave'), pullOf(number), 'closed')
    await fixture.wakePipeline()
    await fixture.rows({})
    expect(await fixture.existing()).toEqual([`Application shop-pr-${number}`])
  })

  test('stays through every doubt about GitHub, and goes when GitHub says that the pull request is closed', async () => {
    const fixture = await start({ policy: { drafts: false } })
    await push('dave', 'acme/shop', 'feature', 'one')
    const { number } = await open('dave', 'feature')
    await fixture.wakePipeline()
    await fixture.rows({ [number]: 'Waiting' })
    const pulls = `/repositories/${shop}/pulls`
    for (const [status, reason] of [
      [404, 'RepositoryNotFound'],
      [500, 'GitHubUnreachable'],
    ] as const) {
      const fault = github.context.faults.arm({ kind: 'rest-status', path: pulls, status }, null)
      await fixture.wakePipeline()
      await fixture.listed(reason)
      expect(await fixture.existing()).toEqual(objectsOf(number))
      github.context.faults.disarm(fault)
      await fixture.wakePipeline()
      await fixture.listed('Listed')
    }
    // An empty list, and one that is not understood, say nothing about a pull request that is open.
    for (const [answer, reason] of [
      [() => json([]), 'ListIncomplete'],
      [() => json(Array.from({ length: 30 }, () => 'not a pull request')), 'GitHubUnreachable'],
    ] as const) {
      list = answer
      await fixture.wakePipeline()
      await fixture.listed(reason)
      expect(await fixture.existing()).toEqual(objectsOf(number))
      list = undefined
      await fixture.wakePipeline()
      await fixture.listed('Listed')
    }
    // The list says draft, and the answer about the pull request alone does not come.
    await setDraft(actionOf('dave'), pullOf(number), true)
    const fault = github.context.faults.arm({ kind: 'rest-status', path: `${pulls}/${number}`, status: 404 }, null)
    await fixture.wakePipeline()
    await fixture.listed('ListIncomplete')
    expect(await fixture.existing()).toEqual(objectsOf(number))
    github.context.faults.disarm(fault)
    await fixture.wakePipeline()
    await fixture.rows({ [number]: 'LeftOut' })
    expect(await fixture.existing()).toEqual([])
  })
})

describe('a pull request of a fork', () => {
  async function forked(forks: string): Promise<Previews & { readonly number: number; readonly first: string }> {
    const fixture = await start({ policy: { forks } })
    await fork()
    const first = await push('noah', 'noah/shop', 'main', 'theirs')
    const { number } = await open('noah', 'noah:main')
    await fixture.wakePipeline()
    return { ...fixture, number, first }
  }

  test('gets no preview, and the status says why', async () => {
    const fixture = await forked('Never')
    const { status } = await fixture.rows({ [fixture.number]: 'LeftOut' })
    expect(status?.previews?.[0]).toMatchObject({ reason: 'ForkExcluded' })
    expect(await fixture.existing()).toEqual([])
  })

  test('gets one for exactly the commit that was approved: a push takes it away until the next approval', async () => {
    const fixture = await forked('Approved')
    const { client, namespace, number, first } = fixture
    const waiting = await fixture.rows({ [number]: 'WaitingForApproval' })
    expect(waiting.status?.previews?.[0]?.message).toContain(`/sekisho approve ${first}`)
    expect(await fixture.existing()).toEqual([])
    await fixture.approveHead(number, first)
    await fixture.approve(`shop-pr-${number}`)
    await fixture.buildOf(first)
    expect(await fixture.existing()).toEqual(objectsOf(number))
    const second = await push('noah', 'noah/shop', 'main', 'evil')
    await fixture.wakePipeline()
    await fixture.rows({ [number]: 'WaitingForApproval' })
    expect(await fixture.existing()).toEqual([])
    const commits = (await client.list(kpackBuilds, { namespace })).map(({ spec }) => spec.source.git?.revision)
    expect(commits).not.toContain(second)
    await fixture.approveHead(number, second)
    await fixture.approve(`shop-pr-${number}`)
    await fixture.buildOf(second)
  })
})

test('the API server refuses what no preview could be made from, and names the field', async () => {
  const fixture = await start()
  for (const host of [
    'pr-{name}',
    '{number}{name}',
    '-{number}',
    '{number}--x',
    '{number}-{number}',
    'Pr-{number}',
    '{branch}-{branch}-{number}',
  ])
    await expect(fixture.applyPipeline({ host }), host).rejects.toThrow(/spec\.host/)
  for (const host of ['{number}', '{branch}-{number}-{name}', 'preview-{number}']) await fixture.applyPipeline({ host })
  const application = { chart: fixture.chart, processes: [{ name: 'web', replicas: 1 }] }
  await expect(fixture.applyPipeline({ template: { application } })).rejects.toThrow(/spec\.template\.application.*port/)
  const metadata = { labels: { 'sekisho.dev/tenant': 'acme' } }
  await expect(fixture.applyPipeline({ template: { application: { chart: fixture.chart }, metadata } })).rejects.toThrow(
    /belong to the platform/,
  )
  const image = `registry.example.com/x@sha256:${'a'.repeat(64)}`
  await expect(fixture.applyPipeline({ template: { application: { chart: fixture.chart, image } } })).rejects.toThrow(/image/)
})
