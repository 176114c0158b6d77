// Applications that follow a tag, on a real API server with a registry on loopback: the digest that runs, a tag that moves, a
// registry that is away, a digest that was rolled back, and a pin. The test sets the status of pods, as a kubelet would.
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Application, application } from '../../src/api/apps/application.ts'
import { release } from '../../src/api/apps/release.ts'
import { deployments, type Pod } from '../../src/api/builtin/index.ts'
import { isKubeError } from '../../src/kube/client/errors.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { followedRegistry } from '../../src/services/followed-tags/followed-registry.ts'
import { createTagReader } from '../../src/services/followed-tags/read-tag.ts'
import { createTagWatch } from '../../src/services/followed-tags/tag-watch.ts'
import { applyApplication, makeChart, startApplicationController, withCharts } from '../fixtures/application-controller.ts'
import { type Fixture, podsOf, readyReason, runPods, setPodStatus, withFixture } from '../fixtures/application-fixture.ts'
import { quiet } from '../fixtures/quiet.ts'
import { type SmallRegistry, startSmallRegistry } from '../fixtures/small-registry.ts'

const fieldManager = 'test'
const everyMilliseconds = 300
const idle = { name: 'worker', replicas: 0 }
const web = { name: 'web', port: 3000, replicas: 1 }

const renderer = withCharts()
let registry: SmallRegistry
beforeEach(async () => {
  registry = await startSmallRegistry()
  onTestFinished(() => registry.close())
})

/** Publishes another image under the tag and resolves to its reference by digest. */
const move = (letter: string): string => registry.publish('acme/shop', letter.repeat(40), 'v1')
const tag = (): string => `${registry.host}/acme/shop:v1`

type Started = Fixture & { readonly apply: (spec: object) => Promise<Application> }

type Controlled = Started & { readonly stop: () => Promise<void> }

/** The controller and a chart of this test alone. The registry is in the list unless another one is given. */
async function start(list: readonly string[] = [`http://${registry.host}`]): Promise<Controlled> {
  return control(await withFixture(), list)
}

/** May be called again after its `stop`: as after a restart, nothing is remembered. */
async function control(fixture: Fixture, list: readonly string[]): Promise<Controlled> {
  const chart = await makeChart(fixture)
  const reader = createTagReader(systemClock)
  onTestFinished(() => reader.close())
  const watch = createTagWatch({ read: reader.read, clock: systemClock, everyMilliseconds })
  const tags = { registries: list.map(followedRegistry), ...watch }
  const manager = await startApplicationController(fixture, renderer, { deps: { tags } })
  const apply = (more: object): Promise<Application> => applyApplication(fixture, { chart, ...more })
  return { ...fixture, apply, stop: () => manager.stop() }
}

const shop = ({ namespace }: Fixture) => ({ namespace, name: 'shop' })
const ready = (fixture: Fixture, reason: string): Promise<Application> =>
  readyReason(fixture.client, application, shop(fixture), reason)

async function releasesOf({ client, namespace }: Fixture) {
  const all = (await client.list(release, { namespace })).toSorted((a, b) => a.spec.number - b.spec.number)
  return all.map(({ spec }) => ({ number: spec.number, reason: spec.reason, image: spec.image, tag: spec.tag }))
}

function untilReleases(fixture: Fixture, count: number): ReturnType<typeof releasesOf> {
  return waitUntil(`there are ${count} releases`, async () => {
    const found = await releasesOf(fixture)
    if (found.length === count) return found
    throw new Error(JSON.stringify(found))
  })
}

async function runningImage({ client, namespace }: Fixture, process: string): Promise<string | undefined> {
  const found = await client.get(deployments, { namespace, name: `shop-${process}` })
  return found?.spec?.template.spec?.containers[0]?.image
}

function untilFollowing(fixture: Fixture, reason: string): Promise<Application> {
  return waitUntil(`Following is ${reason}`, async () => {
    const found = await fixture.client.get(application, shop(fixture))
    const condition = findCondition(found?.status?.conditions, 'Following')
    if (found && condition?.reason === reason) return found
    throw new Error(JSON.stringify(condition))
  })
}

/** Until the registry was asked some more times. */
async function untilAsked(times: number): Promise<void> {
  const wanted = registry.requests() + times
  await waitUntil('the registry is asked', async () => registry.requests() >= wanted)
}

const crashing = (pod: Pod) => ({
  phase: 'Running',
  containerStatuses: (pod.spec?.containers ?? []).map(({ name, image }) => ({
    ...{ name, image, imageID: '', ready: false, restartCount: 3 },
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 7, reason: 'Error', startedAt: null, finishedAt: null } },
  })),
})

describe('a followed tag', () => {
  test('runs by its digest, and a tag that moves makes a release; while the registry is away nothing changes', async () => {
    const first = move('a')
    const fixture = await start()
    const { apply, writes } = fixture
    await apply({ processes: [idle], image: tag(), followTag: true })
    const settled = await ready(fixture, 'Available')
    expect(settled.status).toMatchObject({
      image: first,
      followedTag: { image: tag(), digest: first.split('@')[1], since: expect.any(String) },
    })
    expect(await runningImage(fixture, 'worker')).toBe(first)
    await quiet(fixture)
    writes.length = 0
    await untilAsked(4)
    expect(writes).toEqual([])

    const second = move('b')
    await untilReleases(fixture, 2)
    expect(await releasesOf(fixture)).toEqual([
      { number: 1, reason: 'First', image: first, tag: tag() },
      { number: 2, reason: 'TagMoved', image: second, tag: tag() },
    ])
    const { client, namespace } = fixture
    expect((await client.get(release, { namespace, name: 'shop-v2' }))?.spec.by).toEqual({ kind: 'Tag', name: tag() })
    await waitUntil('the new image runs', async () => (await runningImage(fixture, 'worker')) === second)
    // The status names an image once its rollout is complete: a registry that goes away before would keep the former one in it.
    await waitUntil('the status names it', async () => (await client.get(application, shop(fixture)))?.status?.image === second)

    registry.answerWith = 503
    const away = await untilFollowing(fixture, 'TagUnreadable')
    expect(away.status).toMatchObject({ image: second, followedTag: { digest: second.split('@')[1] } })
    expect(findCondition(away.status?.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'Available' })
    expect(findCondition(away.status?.conditions, 'Following')?.message).toContain(`${registry.host} answered 503`)
    registry.answerWith = undefined
    await untilFollowing(fixture, 'TagKnown')
    expect(await releasesOf(fixture)).toHaveLength(2)
  })

  test('is not released a second time after a crash between the Release and the status', async () => {
    const [first, second] = [move('a'), registry.publish('acme/shop', 'b'.repeat(40))]
    const fixture = await start()
    await fixture.apply({ processes: [idle], image: tag(), followTag: true })
    const { status: before } = await ready(fixture, 'Available')
    move('b')
    await untilReleases(fixture, 2)
    await ready(fixture, 'Available')
    await fixture.stop()
    const { apiVersion, kind } = application
    const object = { apiVersion, kind, metadata: shop(fixture), status: before }
    await fixture.client.applyStatus(application, object as never, { fieldManager: 'sekisho.dev/application', force: true })
    registry.answerWith = 503
    const again = await control(fixture, [`http://${registry.host}`])
    const found = await untilFollowing(again, 'TagUnreadable')
    expect(found.status).toMatchObject({ followedTag: { digest: second.split('@')[1] }, latestRelease: 2 })
    expect((await releasesOf(again)).map(({ image }) => image)).toEqual([first, second])
  })

  test('that was rolled back stays so until it moves again', async () => {
    const [first, bad] = [move('a'), registry.publish('acme/shop', 'b'.repeat(40))]
    const fixture = await start()
    const { apply, client, namespace } = fixture
    await apply({ processes: [web], image: tag(), followTag: true })
    await runPods(client, namespace, first, 1)
    await ready(fixture, 'Available')
    move('b')
    for (const pod of await podsOf(client, namespace, bad, 1)) await setPodStatus(pod, crashing(pod))
    await ready(fixture, 'RolledBack')
    await waitUntil('the image before runs', async () => (await runningImage(fixture, 'web')) === first)
    await untilAsked(6)
    expect(await releasesOf(fixture)).toHaveLength(2)
    expect(await runningImage(fixture, 'web')).toBe(first)

    const third = move('c')
    await runPods(client, namespace, third, 1)
    await ready(fixture, 'Available')
    expect((await releasesOf(fixture)).map(({ reason, image }) => [reason, image])).toEqual([
      ['First', first],
      ['TagMoved', bad],
      ['TagMoved', third],
    ])
  })

  test('is not asked for while a release is pinned, and is followed again afterwards', async () => {
    const first = move('a')
    const fixture = await start()
    const { apply, client } = fixture
    await apply({ processes: [idle], image: tag(), followTag: true })
    await ready(fixture, 'Available')
    await client.mergePatch(application, shop(fixture), { spec: { pinnedRelease: 1 } }, { fieldManager })
    await ready(fixture, 'Pinned')
    expect((await untilFollowing(fixture, 'Pinned')).status?.followedTag?.digest).toBe(first.split('@')[1])
    await quiet(fixture)
    const asked = registry.requests()
    const second = move('b')
    await client.mergePatch(application, shop(fixture), { metadata: { annotations: { touched: 'yes' } } }, { fieldManager })
    await quiet(fixture)
    expect(registry.requests()).toBe(asked)
    expect(await releasesOf(fixture)).toHaveLength(1)
    await client.mergePatch(application, shop(fixture), { spec: { pinnedRelease: null } }, { fieldManager })
    expect((await untilReleases(fixture, 2)).at(-1)).toMatchObject({ reason: 'TagMoved', image: second })
  })

  test('of a registry that is not in the list is refused, and the registry is not asked', async () => {
    move('a')
    const fixture = await start(['ghcr.io'])
    await fixture.apply({ processes: [idle], image: tag(), followTag: true })
    const refused = await ready(fixture, 'RegistryNotFollowed')
    const { message = '' } = findCondition(refused.status?.conditions, 'Ready') ?? {}
    expect(message).toContain(`the platform follows no tags in ${registry.host}, only in ghcr.io`)
    expect(registry.requests()).toBe(0)
    expect(await runningImage(fixture, 'worker')).toBeUndefined()
  })

  test.each([
    ['a digest', { image: `ghcr.io/acme/shop@sha256:${'1'.repeat(64)}` }],
    ['no image', {}],
    ['the image of a RemoteSync', { image: 'ghcr.io/acme/shop:v1', commit: 'c'.repeat(40) }],
  ])('is refused by the schema beside %s', async (_what, spec) => {
    const fixture = await start()
    const applied = fixture.apply({ ...spec, followTag: true })
    await expect(applied).rejects.toSatisfy(error => isKubeError(error, 422) && error.message.includes('named by a tag'))
  })
})
