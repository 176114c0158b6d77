// The Application and ApplicationChart controllers on a real API server: objects, inventory, prune, conflicts, conditions, and
// that a second reconcile writes nothing. The test sets the status of pods (the control plane has no node); the Deployment
// controller is the real one.
import { describe, expect, test } from 'vitest'
import { application } from '../../src/api/apps/application.ts'
import { applicationChart } from '../../src/api/apps/application-chart.ts'
import { configMaps, deployments, events, ingresses, services } from '../../src/api/builtin/index.ts'
import { createApplicationChartController } from '../../src/controllers/application-chart/index.ts'
import { isKubeError } from '../../src/kube/client/errors.ts'
import { ownerReference } from '../../src/kube/object/owner.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { anotherSecond } from '../fixtures/another-second.ts'
import {
  applyApplication,
  commit,
  image,
  makeChart as makeAnyChart,
  startApplicationController,
  withCharts,
} from '../fixtures/application-controller.ts'
import { type Fixture, podsOf, readyReason, runPods, setPodStatus, withFixture } from '../fixtures/application-fixture.ts'
import { quiet } from '../fixtures/quiet.ts'

const fieldManager = 'test'

const renderer = withCharts()

async function startControllers(fixture: Fixture): Promise<void> {
  await startApplicationController(fixture, renderer, {
    controllers: (controller, parts) => [controller, createApplicationChartController(parts)],
  })
}

const makeChart = (fixture: Fixture, spec: object = { builtIn: 'web', timeoutSeconds: 5 }): Promise<string> =>
  makeAnyChart(fixture, spec)

const web = { name: 'web', port: 3000, replicas: 1 }

describe('Application', () => {
  test('an apply with a version that no object has creates a new object, and conflicts with an existing one', async () => {
    const { client, namespace } = await withFixture()
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name: 'one', resourceVersion: '1' },
      data: { a: '1' },
    }
    expect((await client.apply(configMaps, object, { fieldManager })).data).toEqual({ a: '1' })
    const second = client.apply(configMaps, object, { fieldManager: 'other' })
    await expect(second).rejects.toSatisfy(error => isKubeError(error, 409))
  })

  test('waits for an image, rolls it out, keeps serving while the next one starts, and writes nothing once it is settled', async () => {
    const fixture = await withFixture()
    const { client, namespace } = fixture
    const chart = await makeChart(fixture)
    await startControllers(fixture)
    await applyApplication(fixture, { chart, processes: [web] })
    await readyReason(client, application, { namespace, name: 'shop' }, 'WaitingForImage')

    await applyApplication(fixture, { chart, processes: [web], image: image(1), commit: commit(1) })
    await readyReason(client, application, { namespace, name: 'shop' }, 'RollingOut')
    await runPods(client, namespace, image(1), 1)
    const first = await readyReason(client, application, { namespace, name: 'shop' }, 'Available')
    expect(first.status).toMatchObject({ url: `http://shop.${namespace}.localhost:8080`, image: image(1), commit: commit(1) })
    expect(first.status?.inventory?.map(entry => entry.kind)).toEqual(['Deployment', 'Ingress', 'Service'])
    expect(Date.parse(first.status?.availableAt ?? '')).toBeGreaterThanOrEqual(Date.parse(first.status?.appliedAt ?? ''))

    await quiet(fixture)
    fixture.writes.length = 0
    await client.mergePatch(
      application,
      { namespace, name: 'shop' },
      { metadata: { annotations: { touched: 'yes' } } },
      { fieldManager },
    )
    await quiet(fixture)
    expect(fixture.writes).toEqual([])

    await applyApplication(fixture, { chart, processes: [web], image: image(2), commit: commit(2) })
    const rolling = await readyReason(client, application, { namespace, name: 'shop' }, 'RollingOut')
    expect(rolling.status).toMatchObject({ image: image(1), commit: commit(1), url: `http://shop.${namespace}.localhost:8080` })
    expect(rolling.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'True' }))
    expect(rolling.status?.availableAt).toBeUndefined()
    await runPods(client, namespace, image(2), 1)
    const second = await readyReason(client, application, { namespace, name: 'shop' }, 'Available')
    expect(second.status).toMatchObject({ image: image(2), commit: commit(2) })
  })

  test('prunes what is no longer rendered, reverts what others changed, and recreates what others deleted', async () => {
    const fixture = await withFixture()
    const { client, namespace } = fixture
    const chart = await makeChart(fixture)
    await startControllers(fixture)
    const worker = { name: 'worker', replicas: 0 }
    await applyApplication(fixture, { chart, processes: [{ ...web, replicas: 0 }, worker], image: image(1) })
    await readyReason(client, application, { namespace, name: 'shop' }, 'Available')
    expect(await client.get(deployments, { namespace, name: 'shop-worker' })).toBeDefined()

    await applyApplication(fixture, { chart, processes: [worker], image: image(1) })
    await waitUntil('the web objects are gone', async () =>
      (await client.get(ingresses, { namespace, name: 'shop' })) ? undefined : true,
    )
    const left = await waitUntil('the inventory is smaller', async () => {
      const entries = (await client.get(application, { namespace, name: 'shop' }))?.status?.inventory
      return entries?.length === 1 ? entries : undefined
    })
    expect(left).toEqual([{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop-worker' }])
    expect(await client.get(deployments, { namespace, name: 'shop-web' })).toBeUndefined()

    await client.mergePatch(
      deployments,
      { namespace, name: 'shop-worker' },
      { spec: { replicas: 3 } },
      { fieldManager: 'meddler' },
    )
    await waitUntil(
      'the drift is reverted',
      async () => (await client.get(deployments, { namespace, name: 'shop-worker' }))?.spec?.replicas === 0,
    )
    const before = (await client.get(deployments, { namespace, name: 'shop-worker' }))?.metadata.uid
    await client.delete(deployments, { namespace, name: 'shop-worker' })
    await waitUntil('the Deployment is back', async () => {
      const uid = (await client.get(deployments, { namespace, name: 'shop-worker' }))?.metadata.uid
      return uid !== undefined && uid !== before
    })
  })

  test('names an object in the inventory before it is created, unless it could be found by its owner; what is found that way is pruned', async () => {
    const fixture = await withFixture()
    const { client, namespace, writes } = fixture
    const chart = await makeChart(fixture)
    const worker = { name: 'worker', replicas: 0 }
    const shop = await applyApplication(fixture, { chart, processes: [worker], image: image(1) })
    // As after a crash: the controller had just created the Deployment of a process that has been removed since.
    const { apiVersion, kind } = deployments
    const labels = { 'sekisho.dev/application': 'shop' }
    const unnamed = {
      apiVersion,
      kind,
      metadata: { name: 'shop-web', namespace, labels, ownerReferences: [ownerReference(shop, { controller: true })] },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: image(1) }] } },
      },
    }
    await client.create(deployments, unnamed, { fieldManager })
    await startControllers(fixture)
    const settled = await readyReason(client, application, { namespace, name: 'shop' }, 'Available')
    expect(settled.status?.inventory).toEqual([{ apiVersion, kind, name: 'shop-worker' }])
    expect(await client.get(deployments, { namespace, name: 'shop-web' })).toBeUndefined()
    const ofDeployments = writes.filter(write => write.includes(' Deployment '))
    expect(ofDeployments.slice(0, 2)).toEqual(['apply Deployment shop-worker', 'delete Deployment shop-web'])

    writes.length = 0
    const code = `export function chart({ name }) { return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }] }`
    const { platformNamespace } = fixture
    const metadataOfChart = { namespace: platformNamespace, name: 'mine' }
    await client.apply(
      configMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOfChart, data: { 'chart.js': code } },
      { fieldManager },
    )
    const configMap = { name: 'mine', key: 'chart.js' }
    await client.mergePatch(applicationChart, { name: chart }, { spec: { builtIn: null, configMap } }, { fieldManager })
    await waitUntil('what the chart rendered before is gone', async () =>
      (await client.get(deployments, { namespace, name: 'shop-worker' })) ? undefined : true,
    )
    const order = ['status Application shop', 'apply ConfigMap shop'].map(write => writes.indexOf(write))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(order).not.toContain(-1)
  })

  test('never adopts an object of another owner, and does not delete it with the Application', async () => {
    const fixture = await withFixture()
    const { client, namespace } = fixture
    const chart = await makeChart(fixture)
    const stranger = { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: 'shop' }, spec: { ports: [{ port: 1 }] } }
    await client.apply(services, stranger, { fieldManager })
    await startControllers(fixture)
    await applyApplication(fixture, { chart, processes: [{ ...web, replicas: 0 }], image: image(1) })
    const refused = await readyReason(client, application, { namespace, name: 'shop' }, 'NameConflict')
    expect(refused.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Rendered', status: 'False', reason: 'NameConflict' }),
    )
    const left = await client.get(services, { namespace, name: 'shop' })
    expect(left?.spec?.ports?.[0]?.port).toBe(1)
    expect(left?.metadata.ownerReferences).toBeUndefined()
    await client.delete(application, { namespace, name: 'shop' })
    await waitUntil('the Application is gone', async () =>
      (await client.get(application, { namespace, name: 'shop' })) ? undefined : true,
    )
    expect(await client.get(services, { namespace, name: 'shop' })).toBeDefined()
  })

  test('distinguishes a bad image and a crash from a rollout, names the cure, and records an Event', async () => {
    const fixture = await withFixture()
    const { client, namespace } = fixture
    const chart = await makeChart(fixture)
    await startControllers(fixture)
    await applyApplication(fixture, { chart, processes: [web], image: image(1), commit: commit(1) })
    await runPods(client, namespace, image(1), 1)
    await readyReason(client, application, { namespace, name: 'shop' }, 'Available')
    const [before] = await podsOf(client, namespace, image(1), 1)
    if (!before) throw new Error('no pod')
    await anotherSecond(before)
    await applyApplication(fixture, { chart, processes: [web], image: image(2), commit: commit(2) })
    const [pod] = await podsOf(client, namespace, image(2), 1)
    if (!pod) throw new Error('no pod')
    const container = { name: 'web', image: image(2), imageID: '', ready: false, restartCount: 0 }
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image: not found' }
    await setPodStatus(pod, { phase: 'Pending', containerStatuses: [{ ...container, state: { waiting } }] })
    const pulling = await readyReason(client, application, { namespace, name: 'shop' }, 'ImagePullFailed')
    expect(pulling.status).toMatchObject({ image: image(1), commit: commit(1) })
    expect(JSON.stringify(pulling.status?.conditions)).toContain('the version before keeps serving')

    const lastState = { terminated: { exitCode: 7, reason: 'Error', startedAt: null, finishedAt: null } }
    const crashing = { ...container, restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState }
    await setPodStatus(pod, { phase: 'Running', containerStatuses: [crashing] })
    const crashed = await readyReason(client, application, { namespace, name: 'shop' }, 'Crashing')
    expect(JSON.stringify(crashed.status?.conditions)).toContain('exits with code 7')
    await waitUntil('the Event is there', async () =>
      (await client.list(events, { namespace })).some(event => event.reason === 'Crashing' && event.type === 'Warning'),
    )
  })

  test('a chart from a ConfigMap is checked, used, and rendered again when it changes', async () => {
    const fixture = await withFixture()
    const { client, namespace, platformNamespace } = fixture
    const write = (code: string): Promise<unknown> =>
      client.apply(
        configMaps,
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { namespace: platformNamespace, name: 'mine' },
          data: { 'chart.js': code },
        },
        { fieldManager, force: true },
      )
    await startControllers(fixture)
    const chart = await makeChart(fixture, { configMap: { name: 'mine' }, timeoutSeconds: 1 })
    const chartReason = (reason: string) =>
      waitUntil(
        `the chart is ${reason}`,
        async () =>
          (await client.get(applicationChart, { name: chart }))?.status?.conditions?.some(item => item.reason === reason) ||
          undefined,
      )
    await chartReason('ConfigMapMissing')
    await applyApplication(fixture, { chart, processes: [web], image: image(1) })
    await readyReason(client, application, { namespace, name: 'shop' }, 'ChartNotFound')
    await write('export const nothing = 1')
    await chartReason('ChartDoesNotLoad')

    const rendering = (value: string): string =>
      `export function chart(input) { return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: input.name }, data: { value: '${value}' } }] }`
    await write(rendering('one'))
    await chartReason('Loaded')
    await readyReason(client, application, { namespace, name: 'shop' }, 'Available')
    expect((await client.get(configMaps, { namespace, name: 'shop' }))?.data).toEqual({ value: 'one' })
    await write(rendering('two'))
    await waitUntil(
      'the new chart is used',
      async () => (await client.get(configMaps, { namespace, name: 'shop' }))?.data?.['value'] === 'two',
    )

    await write("export function chart() { throw new Error('attributes.size is missing') }")
    const failed = await readyReason(client, application, { namespace, name: 'shop' }, 'ChartFailed')
    expect(JSON.stringify(failed.status?.conditions)).toContain('attributes.size is missing')
    await write('export function chart() { for (;;); }')
    await readyReason(client, application, { namespace, name: 'shop' }, 'ChartTimedOut')
    await write("export function chart() { return [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }] }")
    const refused = await readyReason(client, application, { namespace, name: 'shop' }, 'ChartFailed')
    expect(JSON.stringify(refused.status?.conditions)).toContain('Secret may not be rendered')
    await write(rendering('three').replace(', data:', ', values:'))
    const misspelled = await readyReason(client, application, { namespace, name: 'shop' }, 'RefusedByCluster')
    expect(JSON.stringify(misspelled.status?.conditions)).toContain('.values: field not declared in schema')
    expect((await client.get(configMaps, { namespace, name: 'shop' }))?.data).toEqual({ value: 'two' })
  })

  test('a host name that another application has, or that belongs to another namespace, is refused', async () => {
    const fixture = await withFixture()
    const { client, namespace } = fixture
    const chart = await makeChart(fixture)
    await startControllers(fixture)
    const processes = [{ ...web, replicas: 0 }]
    const domains = [`www.${namespace}.localhost`]
    await applyApplication(fixture, { chart, processes, image: image(1), domains }, 'first')
    await readyReason(client, application, { namespace, name: 'first' }, 'Available')
    await applyApplication(fixture, { chart, processes, image: image(1), domains }, 'second')
    await readyReason(client, application, { namespace, name: 'second' }, 'DomainTaken')
    await client.delete(application, { namespace, name: 'first' })
    await readyReason(client, application, { namespace, name: 'second' }, 'Available')
    await applyApplication(fixture, { chart, processes, image: image(1), domains: ['shop.other.localhost'] }, 'third')
    await readyReason(client, application, { namespace, name: 'third' }, 'DomainTaken')
  })
})
