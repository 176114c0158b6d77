// One build for several Applications, on a real API server: the same image on each, the release job of the first before the
// others, and what is said when one of them is missing or belongs to another RemoteSync.
import { expect, test } from 'vitest'
import { type Application, application } from '../../src/api/apps/application.ts'
import { release } from '../../src/api/apps/release.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { type Pod, pods } from '../../src/api/builtin/index.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { withCharts } from '../fixtures/application-controller.ts'
import { readyReason, runPods, setPodStatus } from '../fixtures/application-fixture.ts'
import { put } from '../fixtures/put-object.ts'
import { image, type RemoteSyncFixture, startRemoteSyncFixture, succeeded } from '../fixtures/remote-sync-fixture.ts'

const renderer = withCharts()

async function becomes(fixture: RemoteSyncFixture, reason: string, name = 'shop'): Promise<string> {
  const found = await readyReason(fixture.client, remoteSync, { namespace: fixture.namespace, name }, reason)
  return findCondition(found.status?.conditions, 'Ready')?.message ?? ''
}

function found({ client, namespace }: RemoteSyncFixture, name: string): Promise<Application | undefined> {
  return client.get(application, { namespace, name })
}

/** Waits until the Application is to run this image. */
function gets(fixture: RemoteSyncFixture, name: string, wanted: string): Promise<Application> {
  return waitUntil(`${name} gets ${wanted}`, async () => {
    const object = await found(fixture, name)
    return object?.spec.image === wanted ? object : undefined
  })
}

async function applyReleased(fixture: RemoteSyncFixture): Promise<void> {
  const { client, namespace, chart } = fixture
  const releaseJob = { command: ['node', 'migrate.js'], timeoutSeconds: 60 }
  const spec = { chart, processes: [{ name: 'web', port: 3000, replicas: 1 }], releaseJob }
  await put(client, application, { name: 'shop', namespace }, { spec })
}

async function endJob({ client, namespace }: RemoteSyncFixture, number: number, exitCode: number): Promise<void> {
  const labelSelector = `batch.kubernetes.io/job-name=shop-release-v${number}`
  const pod: Pod = await waitUntil(`the pod of release job ${number}`, async () => {
    const [first] = await client.list(pods, { namespace, labelSelector })
    return first
  })
  const terminated = { exitCode, reason: 'Ended', message: 'its last words', startedAt: null, finishedAt: null }
  const container = { name: 'release', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated } }
  await setPodStatus(pod, { phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses: [container] })
}

test('one build runs in all: the others follow the release job of the first, and one that comes later needs no build', async () => {
  const fixture = await startRemoteSyncFixture(renderer)
  const { client, namespace, github } = fixture
  const first = await github.push('one')
  await applyReleased(fixture)
  await fixture.applyApplication('worker')
  await fixture.applyRemoteSync({ otherApplications: ['worker', 'late'] })
  await fixture.approve()
  await fixture.endBuild(await fixture.buildOf(first), succeeded(1))

  await gets(fixture, 'shop', image(1))
  const note = 'worker gets the image after the release job of shop'
  await waitUntil('the RemoteSync says what worker waits for', async () => {
    const object = await client.get(remoteSync, { namespace, name: 'shop' })
    const message = findCondition(object?.status?.conditions, 'Deployed')?.message ?? ''
    return message.includes(note) ? true : undefined
  })
  expect((await found(fixture, 'worker'))?.spec.image).toBeUndefined()

  await endJob(fixture, 1, 0)
  await gets(fixture, 'worker', image(1))
  await runPods(client, namespace, image(1), 2)
  expect(await becomes(fixture, 'ApplicationNotFound')).toMatch(/^spec\.otherApplications: there is no Application late /)

  await fixture.applyApplication('late')
  await gets(fixture, 'late', image(1))
  await runPods(client, namespace, image(1), 3)
  expect(await becomes(fixture, 'Deployed')).toMatch(/^all Applications of the spec run the commit /)
  const { status } = (await client.get(remoteSync, { namespace, name: 'shop' })) ?? {}
  expect(status).toMatchObject({ applications: ['shop', 'worker', 'late'], image: image(1), imageCommit: first })
  expect(await client.list(kpackBuilds, { namespace })).toHaveLength(1)
  const releases = (await client.list(release, { namespace })).map(({ spec }) => [spec.application.name, spec.by?.name])
  expect(releases.toSorted()).toEqual([
    ['late', 'shop'],
    ['shop', 'shop'],
    ['worker', 'shop'],
  ])

  // A migration that fails: the new code comes to nobody.
  const second = await github.push('two')
  await fixture.wake()
  await fixture.endBuild(await fixture.buildOf(second), succeeded(2))
  await gets(fixture, 'shop', image(2))
  await endJob(fixture, 2, 1)
  const failed = await becomes(fixture, 'ApplicationNotReady')
  expect(failed).toMatch(/^Application shop: ReleaseJobFailed: .*; worker, late get the image after the release job of shop/)
  for (const name of ['worker', 'late']) expect((await found(fixture, name))?.spec.image).toBe(image(1))

  // Who is not named any more keeps what it runs, and is free.
  await fixture.applyRemoteSync({ otherApplications: ['worker'] })
  await waitUntil('the status has forgotten it', async () => {
    const object = await client.get(remoteSync, { namespace, name: 'shop' })
    return object?.status?.applications?.includes('late') === false ? true : undefined
  })
  await client.mergePatch(application, { namespace, name: 'late' }, { spec: { image: image(7) } }, { fieldManager: 'test' })
  expect((await gets(fixture, 'late', image(7))).status?.image).toBe(image(1))
})

test('a RemoteSync is refused that names an Application of another one; nothing of either is overwritten', async () => {
  const fixture = await startRemoteSyncFixture(renderer)
  const { github } = fixture
  const commit = await github.push('one')
  for (const name of ['shop', 'worker', 'third']) await fixture.applyApplication(name)
  await fixture.applyRemoteSync({ otherApplications: ['worker'] })
  await fixture.approve()
  await fixture.endBuild(await fixture.buildOf(commit), succeeded(1))
  await runPods(fixture.client, fixture.namespace, image(1), 2)
  await becomes(fixture, 'Deployed')

  await fixture.applyRemoteSync({ application: 'third', otherApplications: ['worker'] }, 'rival')
  expect(await becomes(fixture, 'ApplicationTaken', 'rival')).toBe(
    'RemoteSync shop already keeps Application worker: remove it from spec.otherApplications, or delete one of the two',
  )
  expect((await found(fixture, 'third'))?.spec.image).toBeUndefined()

  // As soon as it is free, the rival goes on.
  await fixture.client.delete(remoteSync, { namespace: fixture.namespace, name: 'shop' })
  await fixture.approve('rival')
  const build = await waitUntil('a build for the rival', async () =>
    (await fixture.client.list(kpackBuilds, { namespace: fixture.namespace })).find(({ metadata }) =>
      metadata.name.startsWith('rival-'),
    ),
  )
  await fixture.endBuild(build, succeeded(3))
  await gets(fixture, 'third', image(3))
  await gets(fixture, 'worker', image(3))
})

test('the API server refuses lists that say nothing, too much or the same twice', async () => {
  const fixture = await startRemoteSyncFixture(renderer)
  const refusals: readonly (readonly [readonly string[], string])[] = [
    [['shop'], 'otherApplications names the Application of spec.application, too'],
    [['worker', 'worker'], 'duplicate entries'],
    [Array.from({ length: 10 }, (_, index) => `worker-${index}`), 'must have at most 9 items'],
    [[], 'should have at least 1 items'],
  ]
  for (const [otherApplications, message] of refusals)
    await expect(fixture.applyRemoteSync({ otherApplications })).rejects.toThrow(message)
})
