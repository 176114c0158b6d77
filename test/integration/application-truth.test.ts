// That an Application says the cause with the cure: what the RemoteSync that builds its image says, what the kubelet's check
// got, and never that a process is healthy which ends again and again. On a real API server; the test writes what RemoteSyncs
// and kubelets say.
import { describe, expect, test } from 'vitest'
import { type Application, application } from '../../src/api/apps/application.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { events, type Pod, pods } from '../../src/api/builtin/index.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { applyApplication, image, makeChart, startApplicationController, withCharts } from '../fixtures/application-controller.ts'
import { type Fixture, podsOf, readyReason, setPodStatus, withFixture } from '../fixtures/application-fixture.ts'
import { put } from '../fixtures/put-object.ts'
import { quiet } from '../fixtures/quiet.ts'
import { ready } from '../fixtures/remote-sync-objects.ts'
import { setStatus } from '../fixtures/statuses.ts'
import { runningStatus } from '../fixtures/write-status.ts'

const renderer = withCharts()

type Started = Fixture & { readonly chart: string }

async function started(): Promise<Started> {
  const fixture = await withFixture()
  const chart = await makeChart(fixture, { builtIn: 'web', timeoutSeconds: 20 })
  await startApplicationController(fixture, renderer)
  return { ...fixture, chart }
}

/** Waits until Ready says so. */
function says({ client, namespace }: Fixture, words: string): Promise<Application> {
  let seen = 'no condition'
  return waitUntil(`shop says “${words}”`, async () => {
    const found = await client.get(application, { namespace, name: 'shop' })
    const condition = findCondition(found?.status?.conditions, 'Ready')
    seen = `${condition?.reason}: ${condition?.message}`
    if (found && seen.includes(words)) return found
    throw new Error(seen)
  })
}

async function report({ client, namespace }: Fixture, reason: string, message: string): Promise<void> {
  const found = await client.get(remoteSync, { namespace, name: 'main' })
  const generation = found?.metadata.generation ?? 1
  const conditions = ready(generation, 'False', reason).map(condition => ({ ...condition, message }))
  await setStatus(remoteSync, namespace, 'main', { observedGeneration: generation, conditions })
}

const web = { name: 'web', port: 3000, replicas: 1 }

describe('an Application without an image', () => {
  test('says what the RemoteSync that builds it says, is woken by it, and writes nothing twice', async () => {
    const fixture = await started()
    const { client, namespace, chart, writes } = fixture
    await applyApplication(fixture, { chart, processes: [web] })
    await says(fixture, 'WaitingForImage: spec.image is not set: create a RemoteSync')
    const source = { installation: 'github', repository: 'acme/shop', source: { branch: 'main' } }
    const build = { strategy: 'Buildpacks', timeoutSeconds: 900 }
    const requestedBy = 'github|github.com|7'
    await put(client, remoteSync, { name: 'main', namespace }, { spec: { ...source, build, application: 'shop', requestedBy } })
    await says(fixture, 'WaitingForImage: RemoteSync main has not built the image yet')

    await report(fixture, 'Queued', '2nd of 3 builds of this tenant that wait')
    const queued = await says(fixture, 'WaitingForImage: RemoteSync main: Queued: 2nd of 3 builds of this tenant that wait')
    expect(findCondition(queued.status?.conditions, 'Rendered')?.message).toContain('RemoteSync main: Queued')

    await report(fixture, 'Building', 'build b1 is in step detect')
    await says(fixture, 'RemoteSync main: Building: the build is running')
    await quiet(fixture)
    writes.length = 0
    await report(fixture, 'Building', 'build b1 is in step export')
    await quiet(fixture)
    expect(writes).toEqual([])

    await report(fixture, 'BuildFailed', 'package.json has no script "compile"\n(step build failed; its log ends with:)\nmore')
    const failed = await says(fixture, 'ImageNotBuilt: RemoteSync main: BuildFailed: package.json has no script "compile"')
    expect(findCondition(failed.status?.conditions, 'Available')).toMatchObject({
      reason: 'ImageNotBuilt',
      message: 'nothing runs yet',
    })
    await client.delete(remoteSync, { namespace, name: 'main' })
    await says(fixture, 'WaitingForImage: spec.image is not set: create a RemoteSync')
  })
})

/** The first pod, whose only container has this state. */
async function inState(
  { client, namespace }: Fixture,
  changes: { readonly ready: boolean; readonly [field: string]: unknown },
): Promise<Pod> {
  const [pod] = await podsOf(client, namespace, image(1), 1)
  if (pod === undefined) throw new Error('no pod')
  const status = runningStatus(pod) as { readonly containerStatuses: readonly object[] }
  const current = (await client.get(pods, { namespace, name: pod.metadata.name })) ?? pod
  const containerStatuses = [{ ...status.containerStatuses[0], ...changes }]
  await setPodStatus(current, { ...status, ...(changes.ready ? {} : { conditions: [] }), containerStatuses })
  return current
}

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString()

test('a check that fails is told with what the kubelet got', async () => {
  const fixture = await started()
  const { client, namespace, chart } = fixture
  await applyApplication(fixture, { chart, processes: [{ ...web, healthPath: '/healthz' }], image: image(1) })
  const [pod] = await podsOf(client, namespace, image(1), 1)
  if (pod === undefined) throw new Error('no pod')
  const { name, uid = '' } = pod.metadata
  const unhealthy = (message: string, lastTimestamp: string, index: number) =>
    client.create(
      events,
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace, name: `${name}.${index}` },
        involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
        type: 'Warning',
        reason: 'Unhealthy',
        message,
        lastTimestamp,
      },
      { fieldManager: 'test' },
    )
  const refused = 'Get "http://10.42.0.9:3000/healthz": dial tcp 10.42.0.9:3000: connect: connection refused'
  await unhealthy(`Readiness probe failed: ${refused}`, ago(20), 1)
  await unhealthy('Readiness probe failed: HTTP probe failed with statuscode: 400', ago(2), 2)
  await inState(fixture, { ready: false, state: { running: { startedAt: ago(30) } } })
  const found = await says(fixture, 'answers GET /healthz on port 3000 with the status 400')
  expect(findCondition(found.status?.conditions, 'Ready')).toMatchObject({
    reason: 'NotAnsweringYet',
    message: expect.stringContaining('healthHeaders'),
  })
})

test('a process without a port that ends with code 0 again and again is not Available between two waits', async () => {
  const fixture = await started()
  const { client, namespace, chart } = fixture
  await applyApplication(fixture, { chart, processes: [{ name: 'worker', replicas: 1 }], image: image(1) })
  const last = { exitCode: 0, reason: 'Completed', startedAt: ago(60), finishedAt: ago(20) }
  const lastState = { terminated: last }
  await inState(fixture, { ready: false, restartCount: 3, lastState, state: { waiting: { reason: 'CrashLoopBackOff' } } })
  await says(
    fixture,
    'Crashing: process worker exits with code 0 after 3 restarts: a process must go on running: list what ends by itself in spec.cron',
  )
  await inState(fixture, { ready: true, restartCount: 4, lastState, state: { running: { startedAt: ago(0) } } })
  const again = await says(fixture, 'Crashing: process worker exits with code 0 after 4 restarts')
  expect(findCondition(again.status?.conditions, 'Available')?.status).toBe('False')
  // Longer than the last time.
  await inState(fixture, { ready: true, restartCount: 4, lastState, state: { running: { startedAt: ago(50) } } })
  await readyReason(client, application, { namespace, name: 'shop' }, 'Available')
})
