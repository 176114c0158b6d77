// What the chart `web` makes of an Application's fields on a real API server: every object is accepted, a second reconcile
// writes nothing, the autoscaler is not undone, volumes outlive what they must, and names that collide are refused. The test
// sets the status of pods.
import { describe, expect, test } from 'vitest'
import { appSecret } from '../../src/api/apps/app-secret.ts'
import { type Application, application } from '../../src/api/apps/application.ts'
import { applicationChart } from '../../src/api/apps/application-chart.ts'
import {
  configMaps,
  cronJobs,
  deployments,
  horizontalPodAutoscalers,
  ingresses,
  jobs,
  persistentVolumeClaims,
  pods,
  serviceAccounts,
  services,
} from '../../src/api/builtin/index.ts'
import { labels } from '../../src/api/names.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../src/api/resource.ts'
import type { ApplicationControllerDeps } from '../../src/controllers/application/index.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { objectAt } from '../../src/lib/json/json-value.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { applyApplication, makeChart, startApplicationController, withCharts } from '../fixtures/application-controller.ts'
import {
  type Fixture,
  gone,
  otherRegistry,
  podsOf,
  readyReason,
  runPods,
  setPodStatus,
  withFixture,
} from '../fixtures/application-fixture.ts'
import { createQuickClock } from '../fixtures/quick-clock.ts'
import { quiet } from '../fixtures/quiet.ts'
import { runningStatus } from '../fixtures/write-status.ts'

const fieldManager = 'test'
const image = `registry.example.com/acme/shop@sha256:${'1'.repeat(64)}`

const renderer = withCharts()

type Registry = ApplicationControllerDeps['registry']

async function started(
  registry: Registry = otherRegistry,
  clock: Clock = systemClock,
): Promise<Fixture & { readonly chart: string }> {
  const fixture = await withFixture()
  const chart = await makeChart(fixture, { builtIn: 'web', timeoutSeconds: 20 })
  await startApplicationController(fixture, renderer, { managerDeps: { clock }, deps: { registry } })
  return { ...fixture, chart }
}

type Started = Awaited<ReturnType<typeof started>>

const put = ({ chart, ...fixture }: Started, spec: object, name = 'shop'): Promise<Application> =>
  applyApplication(fixture, { chart, image, ...spec }, name)

async function existing<T extends KubeObject>({ client, namespace }: Started, type: ResourceType<T>, name: string): Promise<T> {
  return waitUntil(`${type.kind} ${name}`, () => client.get(type, { namespace, name }))
}

const goneFrom = ({ client, namespace }: Started, type: ResourceType, name: string) => gone(client, type, { namespace, name })

/** As admission and the controller of AppSecrets leave one. */
async function makeAppSecret({ client, namespace }: Started): Promise<void> {
  const { apiVersion, kind } = appSecret
  const metadata = { name: 'shop', namespace }
  const { uid = '' } = (await client.apply(appSecret, { apiVersion, kind, metadata, spec: { sealed: {} } }, { fieldManager }))
    .metadata
  const status = { version: 1, keys: [{ name: 'B', version: 1, changedAt: '2026-01-01T00:00:00Z' }] }
  await client.applyStatus(appSecret, { apiVersion, kind, metadata: { ...metadata, uid }, status }, { fieldManager })
}

const keyIn = ({ namespace }: Started, name = 'shop'): ObjectKey => ({ namespace, name })
const idle = { name: 'web', port: 3000, replicas: 0 }
const volume = { name: 'data', size: '1Gi', path: '/data' }

/** Wakes the Application, and expects that nothing is written. */
async function expectSettled(fixture: Started): Promise<void> {
  await quiet(fixture)
  fixture.writes.length = 0
  await fixture.client.mergePatch(
    application,
    keyIn(fixture),
    { metadata: { annotations: { touched: 'yes' } } },
    { fieldManager },
  )
  await quiet(fixture)
  expect(fixture.writes).toEqual([])
}

describe('an Application with every field', () => {
  test('has objects that the API server accepts, and a second reconcile writes nothing', async () => {
    const fixture = await started()
    await makeAppSecret(fixture)
    const probe = { path: '/up', periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 4 }
    await put(fixture, {
      processes: [
        {
          ...idle,
          probes: { startup: probe, liveness: { command: ['check'] }, readiness: probe },
          cpu: '100m',
          cpuLimit: '1',
          memory: '1024Mi',
          ephemeralStorage: '1024Mi',
          gracePeriodSeconds: 60,
          rollout: { maxSurge: 2, maxUnavailable: 1 },
        },
        { name: 'worker', port: 9000, replicas: 0, command: ['work'] },
        { name: 'files', replicas: 0 },
      ],
      cron: [{ name: 'nightly', schedule: '0 3 * * *', timeZone: 'Europe/Berlin', command: ['clean'], concurrency: 'Replace' }],
      volumes: [
        { ...volume, processes: ['files'], storageClass: 'none-such', whenDeleted: 'Delete' },
        { ...volume, name: 'shared', path: '/shared', accessMode: 'ReadWriteMany', processes: ['web', 'worker'] },
      ],
      env: [
        { name: 'A', from: { configMap: { name: 'settings', key: 'a' } } },
        { name: 'B', from: { secret: { name: 'shop', key: 'B' } } },
      ],
      envFrom: [{ configMap: 'settings' }, { secret: 'shop' }],
      tls: { secretName: 'shop-certificate' },
    })
    const ready = await readyReason(fixture.client, application, keyIn(fixture), 'Available')
    expect(ready.status?.inventory?.map(({ kind, name }) => `${kind}/${name}`).sort()).toEqual([
      'CronJob/shop-nightly',
      'Deployment/shop-files',
      'Deployment/shop-web',
      'Deployment/shop-worker',
      'Ingress/shop',
      'PersistentVolumeClaim/shop-data',
      'PersistentVolumeClaim/shop-shared',
      'Service/shop',
      'Service/shop-worker',
    ])
    expect(ready.status?.url).toBe(`https://shop.${fixture.namespace}.localhost`)
    expect(objectAt(await existing(fixture, deployments, 'shop-files'), 'spec', 'strategy')).toEqual({ type: 'Recreate' })
    expect((await existing(fixture, deployments, 'shop-web')).spec).toMatchObject({
      strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } },
      progressDeadlineSeconds: 140,
      template: {
        spec: {
          terminationGracePeriodSeconds: 60,
          securityContext: { fsGroup: 1000 },
          containers: [
            {
              env: expect.arrayContaining([
                { name: 'B', valueFrom: { secretKeyRef: { name: 'appsecret-shop', key: 'B' } } },
                { name: 'PORT', value: '3000' },
              ]),
              envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'appsecret-shop' } }],
              livenessProbe: { exec: { command: ['check'] } },
              resources: { limits: { cpu: '1', 'ephemeral-storage': '1Gi' }, requests: { 'ephemeral-storage': '32Mi' } },
            },
          ],
        },
      },
    })
    expect((await existing(fixture, cronJobs, 'shop-nightly')).spec).toMatchObject({
      timeZone: 'Europe/Berlin',
      concurrencyPolicy: 'Replace',
      suspend: false,
      jobTemplate: { spec: { backoffLimit: 0, activeDeadlineSeconds: 3600 } },
    })
    expect((await existing(fixture, ingresses, 'shop')).spec?.tls?.[0]?.secretName).toBe('shop-certificate')
    expect((await existing(fixture, services, 'shop-worker')).spec?.ports).toMatchObject([{ port: 80, targetPort: 'http' }])
    await expectSettled(fixture)
  })

  test('has a CronJob as it was rendered again when somebody changed it', async () => {
    const fixture = await started()
    await put(fixture, { processes: [], cron: [{ name: 'nightly', schedule: '0 3 * * *', command: ['clean'] }] })
    await readyReason(fixture.client, application, keyIn(fixture), 'Available')
    await fixture.client.mergePatch(cronJobs, keyIn(fixture, 'shop-nightly'), { spec: { suspend: true } }, { fieldManager })
    await waitUntil(
      'the schedule runs again',
      async () => (await existing(fixture, cronJobs, 'shop-nightly')).spec?.suspend === false,
    )
  })
})

describe('an autoscaler', () => {
  const scaled = (more: object = {}) => ({ processes: [{ ...idle, autoscaling: { minReplicas: 2, maxReplicas: 9 }, ...more }] })
  const replicasOf = async (fixture: Started) => (await existing(fixture, deployments, 'shop-web')).spec?.replicas

  test('has the number of pods: it begins with the least, survives changes of the Application, and comes back after a suspension', async () => {
    const fixture = await started()
    await put(fixture, scaled())
    await existing(fixture, horizontalPodAutoscalers, 'shop-web')
    expect(await replicasOf(fixture)).toBe(2)
    // As the autoscaler does.
    await fixture.client.mergePatch(deployments, keyIn(fixture, 'shop-web'), { spec: { replicas: 7 } }, { fieldManager: 'hpa' })
    await put(fixture, scaled({ memory: '64Mi' }))
    await waitUntil('the change is rolled out', async () => {
      const template = objectAt(await existing(fixture, deployments, 'shop-web'), 'spec', 'template')
      return JSON.stringify(template).includes('"memory":"64Mi"')
    })
    expect(await replicasOf(fixture)).toBe(7)
    await expectSettled(fixture)

    await put(fixture, { ...scaled(), suspend: true })
    await readyReason(fixture.client, application, keyIn(fixture), 'Suspended')
    await goneFrom(fixture, horizontalPodAutoscalers, 'shop-web')
    expect(await replicasOf(fixture)).toBe(0)
    await put(fixture, { ...scaled(), suspend: false })
    await existing(fixture, horizontalPodAutoscalers, 'shop-web')
    await waitUntil('it runs again', async () => (await replicasOf(fixture)) === 2)
  })

  test('says in the Application that the cluster has no metrics server, and takes it back when there is one', async () => {
    const fixture = await started()
    const { client, namespace } = fixture
    await put(fixture, scaled())
    const { metadata } = await existing(fixture, horizontalPodAutoscalers, 'shop-web')
    const autoscalingIs = (status: string, reason: string) =>
      waitUntil(`Autoscaling is ${status}, ${reason}`, async () => {
        const found = findCondition((await client.get(application, keyIn(fixture)))?.status?.conditions, 'Autoscaling')
        return found?.status === status && found.reason === reason ? found : undefined
      })
    /** As Kubernetes' controller does: it is not among those of the test cluster. */
    const says = async (status: string, reason: string, message: string): Promise<void> => {
      const lastTransitionTime = '2026-01-01T00:00:00Z'
      const conditions = [{ type: 'ScalingActive', status, reason, message, lastTransitionTime }]
      const object = {
        metadata: { name: metadata.name, namespace },
        status: { conditions, currentMetrics: null, desiredReplicas: 2 },
      }
      const { apiVersion, kind } = horizontalPodAutoscalers
      await client.applyStatus(horizontalPodAutoscalers, { apiVersion, kind, ...object } as never, { fieldManager: 'hpa' })
    }
    await autoscalingIs('Unknown', 'LoadNotMeasuredYet')
    await says('False', 'FailedGetResourceMetric', 'the server could not find the requested resource (get pods.metrics.k8s.io)')
    expect((await autoscalingIs('False', 'MetricsMissing')).message).toContain('the cluster has no metrics server')
    await expectSettled(fixture)
    await says('True', 'ValidMetricFound', 'the HPA was able to compute the replica count')
    await autoscalingIs('True', 'LoadMeasured')
    await put(fixture, { processes: [{ ...idle, replicas: 1 }] })
    await waitUntil('the condition goes with the autoscaler', async () => {
      const found = await client.get(application, keyIn(fixture))
      return findCondition(found?.status?.conditions, 'Autoscaling') === undefined
    })
  })

  test('that is turned on later does not cost the pods that run; one that is turned off gives the number back', async () => {
    const fixture = await started()
    await put(fixture, { processes: [{ ...idle, replicas: 5 }] })
    await existing(fixture, deployments, 'shop-web')
    await put(fixture, scaled())
    await existing(fixture, horizontalPodAutoscalers, 'shop-web')
    expect(await replicasOf(fixture)).toBe(5)
    await put(fixture, { processes: [{ ...idle, replicas: 1 }] })
    await goneFrom(fixture, horizontalPodAutoscalers, 'shop-web')
    expect(await replicasOf(fixture)).toBe(1)
  })
})

describe('suspend', () => {
  test('stops pods and schedules, keeps what is there, and is undone', async () => {
    const fixture = await started()
    const spec = {
      processes: [{ ...idle, replicas: 1 }],
      cron: [{ name: 'nightly', schedule: '0 3 * * *', command: ['clean'] }],
      volumes: [volume],
    }
    await put(fixture, spec)
    await runPods(fixture.client, fixture.namespace, image, 1)
    await readyReason(fixture.client, application, keyIn(fixture), 'Available')
    await put(fixture, { ...spec, suspend: true })
    const suspended = await readyReason(fixture.client, application, keyIn(fixture), 'Suspended')
    expect(suspended.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Available', status: 'False', reason: 'Suspended' }),
    )
    expect(suspended.status?.url).toBeDefined()
    expect((await existing(fixture, cronJobs, 'shop-nightly')).spec?.suspend).toBe(true)
    expect((await existing(fixture, deployments, 'shop-web')).spec?.replicas).toBe(0)
    for (const [type, name] of [
      [ingresses, 'shop'],
      [persistentVolumeClaims, 'shop-data'],
    ] as const)
      expect((await existing(fixture, type as ResourceType, name)).metadata.deletionTimestamp).toBeUndefined()
    await put(fixture, spec)
    await readyReason(fixture.client, application, keyIn(fixture), 'RollingOut')
    expect((await existing(fixture, cronJobs, 'shop-nightly')).spec?.suspend).toBe(false)
  })
})

describe('a volume', () => {
  test('that is to be kept outlives its entry and its Application, and is found again by the next one of the name', async () => {
    const fixture = await started()
    await put(fixture, { processes: [idle], volumes: [volume] })
    const { uid } = (await existing(fixture, persistentVolumeClaims, 'shop-data')).metadata
    await put(fixture, { processes: [idle] })
    await readyReason(fixture.client, application, keyIn(fixture), 'Available')
    await expectSettled(fixture)
    await fixture.client.delete(application, keyIn(fixture))
    await goneFrom(fixture, deployments, 'shop-web')
    expect((await existing(fixture, persistentVolumeClaims, 'shop-data')).metadata).toMatchObject({ uid })
    await put(fixture, { processes: [idle], volumes: [{ ...volume, whenDeleted: 'Delete' }] })
    await readyReason(fixture.client, application, keyIn(fixture), 'Available')
    expect((await existing(fixture, persistentVolumeClaims, 'shop-data')).metadata).toMatchObject({
      uid,
      ownerReferences: [{ kind: 'Application', name: 'shop' }],
    })
    await expectSettled(fixture)
  })

  test('that is to be deleted goes with its entry; one that is kept from then on stays', async () => {
    const fixture = await started()
    const both = [
      { ...volume, whenDeleted: 'Delete' },
      { ...volume, name: 'more', path: '/more', whenDeleted: 'Delete' },
    ]
    await put(fixture, { processes: [idle], volumes: both })
    await existing(fixture, persistentVolumeClaims, 'shop-more')
    await put(fixture, { processes: [idle], volumes: [both[0], { ...both[1], whenDeleted: 'Keep' }] })
    await waitUntil(
      'it has no owner',
      async () => (await existing(fixture, persistentVolumeClaims, 'shop-more')).metadata.ownerReferences === undefined,
    )
    await put(fixture, { processes: [idle] })
    // The API server keeps a claim until no pod uses it; no pod does.
    await goneFrom(fixture, persistentVolumeClaims, 'shop-data')
    expect((await existing(fixture, persistentVolumeClaims, 'shop-more')).metadata.deletionTimestamp).toBeUndefined()
  })

  test('of somebody else is never taken', async () => {
    const fixture = await started()
    const { apiVersion, kind } = persistentVolumeClaims
    const metadata = { name: 'shop-data', namespace: fixture.namespace }
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await fixture.client.apply(persistentVolumeClaims, { apiVersion, kind, metadata, spec }, { fieldManager })
    await put(fixture, { processes: [idle], volumes: [volume] })
    await readyReason(fixture.client, application, keyIn(fixture), 'NameConflict')
    expect((await existing(fixture, persistentVolumeClaims, 'shop-data')).metadata.labels).toBeUndefined()
  })

  test('that a template planted with label and annotation of a kept one is never taken, whatever the Application is told next', async () => {
    const fixture = await started()
    const { apiVersion, kind } = persistentVolumeClaims
    const labels = { 'sekisho.dev/application': 'shop', 'app.kubernetes.io/managed-by': 'sekisho' }
    const annotations = { 'sekisho.dev/when-deleted': 'Keep' }
    const metadata = { name: 'shop-data', namespace: fixture.namespace, labels, annotations }
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const planted = await fixture.client.apply(persistentVolumeClaims, { apiVersion, kind, metadata, spec }, { fieldManager })
    await put(fixture, { processes: [idle], volumes: [volume] })
    const refused = await readyReason(fixture.client, application, keyIn(fixture), 'NameConflict')
    expect(refused.status?.inventory ?? []).not.toContainEqual(expect.objectContaining({ kind }))
    await put(fixture, { processes: [idle], volumes: [{ ...volume, path: '/elsewhere' }] })
    await readyReason(fixture.client, application, keyIn(fixture), 'NameConflict')
    expect((await existing(fixture, persistentVolumeClaims, 'shop-data')).metadata).toMatchObject({
      uid: planted.metadata.uid,
      resourceVersion: planted.metadata.resourceVersion,
    })
  })
})

describe('processes of the image', () => {
  const own = `registry.test/apps/NAMESPACE/shop@sha256:${'2'.repeat(64)}`
  const metadata = JSON.stringify({
    processes: [
      { type: 'web', command: ['node', 'server.js'] },
      { type: 'worker', command: ['node', 'worker.js'] },
    ],
  })

  test('run when the spec names none, once the registry answers', async () => {
    let isAway = true
    const registry: Registry = {
      ...otherRegistry,
      labelsOf: async () =>
        isAway
          ? { kind: 'unreadable', message: 'connection refused', permanent: false }
          : {
              kind: 'labels',
              labels: { 'io.buildpacks.build.metadata': metadata },
              entryPoint: ['/cnb/process/web'],
              ports: [],
            },
    }
    // The registry is asked again after ten seconds.
    const fixture = await started(registry, createQuickClock(5))
    await put(fixture, { image: own.replace('NAMESPACE', fixture.namespace) })
    const waiting = await readyReason(fixture.client, application, keyIn(fixture), 'ImagePullFailed')
    expect(JSON.stringify(waiting.status?.conditions)).toContain('connection refused')
    isAway = false
    const worker = await existing(fixture, deployments, 'shop-worker')
    expect(objectAt(worker, 'spec', 'template', 'spec')).toMatchObject({ containers: [{ command: ['/cnb/process/worker'] }] })
    const rolling = await readyReason(fixture.client, application, keyIn(fixture), 'RollingOut')
    expect(rolling.status?.processes).toEqual([{ name: 'web', port: 8080 }, { name: 'worker' }])
  })

  test('of an image that the platform does not read are its entry point', async () => {
    const fixture = await started()
    await put(fixture, {})
    const rolling = await readyReason(fixture.client, application, keyIn(fixture), 'RollingOut')
    expect(rolling.status?.processes).toEqual([{ name: 'web', port: 8080 }])
  })
})

describe('what keeps an Application from running', () => {
  test('names that collide: the other Application is named, and keeps its object', async () => {
    const fixture = await started()
    await put(fixture, { processes: [{ name: 'worker-web', replicas: 0 }] })
    await readyReason(fixture.client, application, keyIn(fixture), 'Available')
    await put(fixture, { processes: [idle] }, 'shop-worker')
    const refused = await readyReason(fixture.client, application, keyIn(fixture, 'shop-worker'), 'NameConflict')
    expect(JSON.stringify(refused.status?.conditions)).toContain(
      'Deployment shop-worker-web exists and belongs to Application shop',
    )
  })

  test('names that are too long are cut, and stay apart', async () => {
    const fixture = await started()
    const long = 'a'.repeat(63)
    const cron = ['b', 'c'].map(end => ({ name: `${'x'.repeat(39)}${end}`, schedule: '@daily', command: ['a'] }))
    const ports = ['y', 'z'].map(end => ({ name: `${'x'.repeat(39)}${end}`, port: 80, replicas: 0 }))
    await put(fixture, { processes: [idle, ...ports], cron }, long)
    const ready = await readyReason(fixture.client, application, keyIn(fixture, long), 'Available')
    const names = ready.status?.inventory?.map(({ kind, name }) => `${kind}/${name}`) ?? []
    expect(names.filter(name => name.startsWith('CronJob/'))).toHaveLength(2)
    expect(names.filter(name => name.startsWith('Service/'))).toHaveLength(3)
  })

  test('a ClusterIssuer that the platform does not allow', async () => {
    const fixture = await started()
    await put(fixture, { processes: [idle], tls: { certManager: { issuer: 'internal-ca' } } })
    await readyReason(fixture.client, application, keyIn(fixture), 'IssuerNotAllowed')
    expect(await fixture.client.get(ingresses, keyIn(fixture))).toBeUndefined()
    await put(fixture, { processes: [idle], tls: { certManager: { issuer: 'own', kind: 'Issuer' } } })
    await readyReason(fixture.client, application, keyIn(fixture), 'Available')
    const { metadata, spec } = await existing(fixture, ingresses, 'shop')
    expect(metadata.annotations).toMatchObject({ 'cert-manager.io/issuer': 'own' })
    expect(spec?.tls?.[0]?.secretName).toBe('shop-tls')
  })

  test('a volume for a process that the image does not have', async () => {
    const fixture = await started()
    await put(fixture, { volumes: [{ ...volume, processes: ['worker'] }] })
    await readyReason(fixture.client, application, keyIn(fixture), 'InvalidProcesses')
  })

  test('an exceeded quota, of objects and of pods', async () => {
    const fixture = await started()
    const { client, namespace } = fixture
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', namespaced: true } as const
    const limit = (hard: object) =>
      client.apply(
        quota,
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace }, spec: { hard } },
        { fieldManager },
      )
    await limit({ 'requests.storage': '1Mi', pods: '0' })
    await waitUntil(
      'the quota is counted',
      async () => objectAt(await client.get(quota, { namespace, name: 'q' }), 'status', 'hard') !== undefined,
    )
    await put(fixture, { processes: [{ ...idle, replicas: 1 }], volumes: [volume] })
    const refused = await readyReason(client, application, keyIn(fixture), 'QuotaExceeded')
    expect(JSON.stringify(refused.status?.conditions)).toContain('PersistentVolumeClaim shop-data')
    await put(fixture, { processes: [{ ...idle, replicas: 1 }] })
    const stalled = await readyReason(client, application, keyIn(fixture), 'QuotaExceeded')
    expect(JSON.stringify(stalled.status?.conditions)).toContain('cannot create pods')
  })

  test('a port on which nobody listens is named while the rollout goes on', async () => {
    const fixture = await started()
    await put(fixture, { processes: [{ ...idle, replicas: 1 }] })
    const [pod] = await podsOf(fixture.client, fixture.namespace, image, 1)
    if (!pod) throw new Error('no pod')
    const status = runningStatus(pod) as { readonly containerStatuses: readonly object[] }
    const startedAt = new Date(Date.now() - 18_000).toISOString()
    const [container] = status.containerStatuses
    await setPodStatus(pod, {
      ...status,
      conditions: [],
      containerStatuses: [{ ...container, ready: false, started: true, state: { running: { startedAt } } }],
    })
    const waiting = await readyReason(fixture.client, application, keyIn(fixture), 'NotAnsweringYet')
    expect(JSON.stringify(waiting.status?.conditions)).toContain('nothing listens on port 3000')
    const again = (await fixture.client.get(pods, { namespace: fixture.namespace, name: pod.metadata.name })) ?? pod
    await setPodStatus(again, runningStatus(again))
    await readyReason(fixture.client, application, keyIn(fixture), 'Available')
  })
})

describe('a chart of an admin', () => {
  /** Renders these kinds, each as it is written on a cluster. */
  const code = `export function chart({ name }) {
    const template = { spec: { restartPolicy: 'Never', automountServiceAccountToken: false, containers: [{ name: 'once', image: 'registry.example.com/once@sha256:${'2'.repeat(64)}' }] } }
    return [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name }, automountServiceAccountToken: false },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { key: 'value' } },
      { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { template } },
      { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name }, spec: { schedule: '@daily', jobTemplate: { spec: { template } } } },
    ]
  }`
  const types: readonly ResourceType[] = [serviceAccounts, configMaps, jobs, cronJobs]

  test('makes objects of every kind that it may, has them as it renders them, and leaves none behind', async () => {
    const fixture = await started()
    const { client, platformNamespace, chart } = fixture
    const useChart = async (name: string, source: string): Promise<void> => {
      const { apiVersion, kind } = configMaps
      const metadata = { name, namespace: platformNamespace }
      await client.apply(configMaps, { apiVersion, kind, metadata, data: { 'chart.js': source } }, { fieldManager })
      await client.mergePatch(
        applicationChart,
        { name: chart },
        { spec: { builtIn: null, configMap: { name } } },
        { fieldManager },
      )
    }
    await useChart('all', code)
    await put(fixture, { processes: [idle] })
    await readyReason(client, application, keyIn(fixture), 'Available')
    await Promise.all(types.map(type => existing(fixture, type, 'shop')))
    await client.mergePatch(jobs, keyIn(fixture), { metadata: { labels: { [labels.managedBy]: 'somebody' } } }, { fieldManager })
    await waitUntil(
      'the label of the Job is as it was rendered',
      async () => (await existing(fixture, jobs, 'shop')).metadata.labels?.[labels.managedBy] === 'sekisho',
    )
    await useChart('none', 'export function chart() { return [] }')
    await Promise.all(types.map(type => goneFrom(fixture, type, 'shop')))
  })
})
