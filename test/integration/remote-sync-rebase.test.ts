// A newer run image of the builder, on a real API server: every image on the former one gets it without a build, when nothing
// else is to be done. The tests act as kpack and the kubelet; test/e2e runs the real ones.
import { expect, test } from 'vitest'
import { application } from '../../src/api/apps/application.ts'
import { release } from '../../src/api/apps/release.ts'
import { type RemoteSync, remoteSync } from '../../src/api/apps/remote-sync.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { isRebase, type KpackBuild, kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { withCharts } from '../fixtures/application-controller.ts'
import { podsOf, readyReason, runPods, setPodStatus } from '../fixtures/application-fixture.ts'
import { failed, image, type RemoteSyncFixture, startRemoteSyncFixture, succeeded } from '../fixtures/remote-sync-fixture.ts'

const [older = '', newer = '', newest = ''] = ['a', 'b', 'c'].map(letter => `sha256:${letter.repeat(64)}`)
const onRunImage = (number: number, digest: string) => ({
  ...succeeded(number),
  stack: { id: 'base', runImage: `registry.example.com/builder@${digest}` },
})

const renderer = withCharts()

const key = ({ namespace }: RemoteSyncFixture) => ({ namespace, name: 'shop' })

async function statusOf(fixture: RemoteSyncFixture): Promise<NonNullable<RemoteSync['status']>> {
  return (await fixture.client.get(remoteSync, key(fixture)))?.status ?? {}
}

/** A fixture whose Application runs commit `one` on the older run image. */
async function deployed(): Promise<RemoteSyncFixture & { readonly first: string }> {
  const fixture = await startRemoteSyncFixture(renderer)
  await fixture.setRunImage(older)
  const first = await fixture.github.push('one')
  await fixture.applyApplication()
  await fixture.applyRemoteSync()
  await fixture.approve()
  await fixture.endBuild(await fixture.buildOf(first), onRunImage(1, older))
  await runPods(fixture.client, fixture.namespace, image(1), 1)
  await readyReason(fixture.client, remoteSync, key(fixture), 'Deployed')
  return { ...fixture, first }
}

async function rebases({ client, namespace }: RemoteSyncFixture): Promise<readonly KpackBuild[]> {
  return (await client.list(kpackBuilds, { namespace })).filter(isRebase)
}

const rebaseOnto = (fixture: RemoteSyncFixture, digest: string): Promise<KpackBuild> =>
  waitUntil(`a rebase onto ${digest}`, async () => {
    const { rebase } = await statusOf(fixture)
    if (rebase?.runImage !== digest) return undefined
    return (await rebases(fixture)).find(({ metadata }) => metadata.name === rebase.build)
  })

test('an image gets a newer run image: no source is fetched, the commit stays, and the release says so', async () => {
  const fixture = await deployed()
  const { client, namespace, first } = fixture
  const before = await statusOf(fixture)
  expect(before.runImage).toBe(older)
  await fixture.setRunImage(newer)
  const build = await rebaseOnto(fixture, newer)
  expect(build.spec).toMatchObject({
    lastBuild: { image: image(1), stackId: 'base' },
    source: { git: { revision: first, url: 'https://source.invalid/' } },
  })
  expect(fixture.tagged()).toEqual([`${build.metadata.name} ${image(1)}`])
  await readyReason(client, remoteSync, key(fixture), 'Deployed')

  await fixture.endBuild(build, onRunImage(2, newer))
  await runPods(client, namespace, image(2), 1)
  await waitUntil('the rebased image runs', async () => (await client.get(application, key(fixture)))?.status?.image === image(2))
  await readyReason(client, remoteSync, key(fixture), 'Deployed')
  expect((await client.get(application, key(fixture)))?.spec).toMatchObject({ image: image(2), commit: first })
  expect(await statusOf(fixture)).toMatchObject({
    image: image(2),
    imageCommit: first,
    imageBuild: before.imageBuild,
    runImage: newer,
  })
  const reasons = (await client.list(release, { namespace })).map(({ spec }) => [spec.image, spec.reason, spec.by.kind])
  expect(reasons).toContainEqual([image(2), 'Rebased', 'RemoteSync'])

  const second = await fixture.github.push('two')
  await fixture.wake()
  const next = await fixture.buildOf(second)
  expect(isRebase(next)).toBe(false)
  expect(next.spec['lastBuild']).toMatchObject({ image: image(2) })
})

test('a rebase that fails changes nothing and is not repeated; the next run image is tried again', async () => {
  const fixture = await deployed()
  const { client, namespace } = fixture
  await fixture.setRunImage(newer)
  await fixture.endBuild(await rebaseOnto(fixture, newer), failed('Error: Container rebase terminated with error'))
  const failure = await waitUntil('the failure is recorded', async () => (await statusOf(fixture)).rebase?.failure)
  expect(failure).toContain('failed in step rebase')
  await readyReason(client, remoteSync, key(fixture), 'Deployed')
  fixture.writes.length = 0
  await fixture.wake()
  await waitUntil('the wake is handled', async () => fixture.writes.includes('status RemoteSync shop'))
  expect(await rebases(fixture)).toHaveLength(1)
  expect((await client.get(application, { namespace, name: 'shop' }))?.spec.image).toBe(image(1))
  await fixture.setRunImage(newest)
  await rebaseOnto(fixture, newest)
})

/**
 * As the kubelet says it of a container that ends again and again. Not in the second in which the pod began, as it could never
 * be: a crash counts for every release that began in that second, because times of pods are whole seconds.
 */
async function crashPods({ client, namespace }: RemoteSyncFixture, name: string): Promise<void> {
  for (const pod of await podsOf(client, namespace, name, 1)) {
    const next = Date.parse(pod.metadata.creationTimestamp ?? '') + 1000
    await waitUntil('the second in which the pod began is over', async () => Date.now() >= next)
    await setPodStatus(pod, {
      phase: 'Running',
      containerStatuses: (pod.spec?.containers ?? []).map(({ name, image: ref }) => ({
        ...{ name, image: ref, imageID: '', ready: false, restartCount: 3 },
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 7, reason: 'Error', startedAt: null, finishedAt: null } },
      })),
    })
  }
}

test('a rebased image that does not start is given up: the former one is the image again, and gets the next run image', async () => {
  const fixture = await deployed()
  const { client, namespace } = fixture
  await fixture.setRunImage(newer)
  await fixture.endBuild(await rebaseOnto(fixture, newer), onRunImage(2, newer))
  await crashPods(fixture, image(2))
  await waitUntil('the Application has the former image', async () => {
    const found = await client.get(application, key(fixture))
    return found?.spec.image === image(1) && findCondition(found.status?.conditions, 'Ready')?.status === 'True'
  })
  await readyReason(client, remoteSync, key(fixture), 'Deployed')
  const status = await statusOf(fixture)
  expect(status).toMatchObject({ image: image(1), runImage: older, rebase: { runImage: newer, image: image(2) } })
  expect(status.rebase?.failure).toContain('exits with code 7')
  expect((await rebases(fixture)).length).toBe(1)
  const reasons = (await client.list(release, { namespace })).map(({ spec }) => [spec.image, spec.reason])
  expect(reasons).toEqual(expect.arrayContaining([[image(1), 'NewImage']]))
  await fixture.setRunImage(newest)
  expect((await rebaseOnto(fixture, newest)).spec['lastBuild']).toMatchObject({ image: image(1) })
})

test('of two applications of a tenant, the second one gets the run image as soon as the first one has it', async () => {
  const fixture = await deployed()
  const { client, namespace, first } = fixture
  const site = { namespace, name: 'site' }
  const siteImage = image(5).replace('/shop@', '/site@')
  const [shopBuild = ''] = (await client.list(kpackBuilds, { namespace })).map(({ metadata }) => metadata.name)
  await fixture.applyApplication('site')
  await fixture.applyRemoteSync({}, 'site')
  await fixture.approve('site')
  await fixture.endBuild(await fixture.buildOf(first, shopBuild), { ...onRunImage(5, older), latestImage: siteImage })
  await runPods(client, namespace, siteImage, 1)
  await readyReason(client, remoteSync, site, 'Deployed')
  await fixture.setRunImage(newer)
  const running = async (): Promise<KpackBuild | undefined> => (await rebases(fixture)).find(({ status }) => status === undefined)
  const one = await waitUntil('the first rebase', running)
  expect(await rebases(fixture)).toHaveLength(1)
  await fixture.endBuild(one, failed('Error: Container rebase terminated with error'))
  await waitUntil('the second rebase', running)
  expect(await rebases(fixture)).toHaveLength(2)
})

test('a push ends a rebase, and is built from the image before it', async () => {
  const fixture = await deployed()
  await fixture.setRunImage(newer)
  const build = await rebaseOnto(fixture, newer)
  const second = await fixture.github.push('two')
  await fixture.wake()
  const next = await fixture.buildOf(second, build.metadata.name)
  expect(next.spec['lastBuild']).toMatchObject({ image: image(1) })
  await waitUntil('the rebase is ended', async () => (await rebases(fixture)).length === 0)
  await fixture.endBuild(next, onRunImage(3, newer))
  await runPods(fixture.client, fixture.namespace, image(3), 1)
  await waitUntil('the push runs', async () => (await fixture.client.get(application, key(fixture)))?.status?.image === image(3))
  expect(await rebases(fixture)).toEqual([])
})
