// The bound on ports × endpoints on a real API server with Kubernetes' own controllers: labels are set beyond it, copied to the EndpointSlices by
// Kubernetes, and taken off when the Services fit again.
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { type CoreEvent, endpointSlices, events, pods, type Service, services } from '../../src/api/builtin/index.ts'
import { labels } from '../../src/api/names.ts'
import { serviceProxyLabel, tooManyEndpoints } from '../../src/api/tenancy/service-proxy.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { createServiceProxyController } from '../../src/controllers/service-proxy/index.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { createManager } from '../../src/kube/manager.ts'
import { createEventRecorder } from '../../src/kube/object/events.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { installKinds, withFixture } from '../fixtures/application-fixture.ts'
import { waitUntil } from '../fixtures/harness.ts'
import { onlyNamed } from '../fixtures/test-clients.ts'

const patience = { timeoutMilliseconds: 60_000 }
const fieldManager = 'test'
const ports = Array.from({ length: 4 }, (_, at) => ({ name: `p${at}`, port: 80 + at }))

beforeAll(installKinds)

/** Until it is stopped, with the writes that it sends. */
async function running(client: KubeClient) {
  const writes: string[] = []
  const noting: KubeClient = {
    ...client,
    apply(type, object, options) {
      if (type.kind !== 'Event') writes.push(`set ${object.metadata.name}`)
      return client.apply(type, object, options)
    },
    mergePatch(type, key, patch, options) {
      writes.push(`remove ${key.name}`)
      return client.mergePatch(type, key, patch, options)
    },
  }
  const manager = createManager({ client: noting, log: silentLog, clock: systemClock, random: Math.random })
  const recorder = createEventRecorder({ client, clock: systemClock, log: silentLog, component: 'test' })
  manager.add(createServiceProxyController({ manager, events: recorder, clock: systemClock }))
  await manager.start()
  const stop = async () => {
    await manager.stop()
    await recorder.flush()
  }
  onTestFinished(stop)
  return { writes, stop }
}

async function tenantWithPods(count: number) {
  const { client, controllersClient, namespace } = await withFixture()
  const spec = { account: { host: 'github.localhost', id: 1, login: 'acme', type: 'User' as const }, namespace, roles: [] }
  await client.create(
    tenant,
    { apiVersion: tenant.apiVersion, kind: tenant.kind, metadata: { name: namespace }, spec },
    { fieldManager },
  )
  onTestFinished(() => client.delete(tenant, { name: namespace }))
  const run = async (at: number): Promise<void> => {
    const name = `p${at}`
    const podIP = `192.0.2.${at}`
    const container = { name: 'main', image: 'registry.test/nothing' }
    const metadata = { name, namespace, labels: { app: 'x' } }
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container], terminationGracePeriodSeconds: 0 } }
    await client.create(pods, pod as never, { fieldManager })
    const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions: [{ type: 'Ready', status: 'True' }] }
    await client.applyStatus(
      pods,
      { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, status },
      { fieldManager, force: true },
    )
  }
  for (let made = 0; made < count; made += 10) await Promise.all(Array.from({ length: 10 }, (_, at) => run(made + at + 1)))
  return {
    ...{ client, namespace, controllersClient: onlyNamed(controllersClient, tenant, namespace) },
    serve: (name: string, ownLabels = {}) =>
      client.create(
        services,
        {
          ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace, labels: ownLabels } },
          spec: { selector: { app: 'x' }, ports, publishNotReadyAddresses: true } as Service['spec'] & object,
        },
        { fieldManager },
      ),
    unserved: async () => {
      const all = await client.list(services, { namespace, labelSelector: serviceProxyLabel })
      return all.map(({ metadata }) => metadata.name).toSorted()
    },
    /** The Services of the slices that kube-proxy does not look at. */
    unservedSlices: async () => {
      const all = await client.list(endpointSlices, { namespace, labelSelector: `${serviceProxyLabel}=${tooManyEndpoints}` })
      return all.map(({ metadata }) => metadata.labels?.['kubernetes.io/service-name']).toSorted()
    },
  }
}

function same(seen: readonly unknown[], wanted: readonly unknown[]): true {
  if (JSON.stringify(seen) !== JSON.stringify(wanted))
    throw new Error(`${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}`)
  return true
}

test('the Services beyond the bound are taken away from kube-proxy, those of Applications last, and come back', {
  timeout: 180_000,
}, async () => {
  const { client, controllersClient, namespace, serve, unserved, unservedSlices } = await tenantWithPods(100)
  const first = await running(controllersClient)
  // Each has 400 pairs: ten of them are 4,000.
  const made: Service[] = []
  for (let at = 0; at < 11; at++) made.push(await serve(`s${at}`))
  await serve('of-application', { [labels.application]: 'shop' })
  const inOrder = made.toSorted((a, b) => (keyOfAge(a) < keyOfAge(b) ? -1 : 1)).map(({ metadata }) => metadata.name)
  const beyond = inOrder.slice(-2).toSorted()
  await waitUntil('two Services to be taken away', async () => same(await unserved(), beyond), patience)
  await waitUntil('their slices to follow', async () => same(await unservedSlices(), beyond), patience)
  const isRecorded = async () => {
    const all = await client.list<CoreEvent>(events, { namespace })
    const about = all.filter(({ reason }) => reason === 'TooManyEndpoints').map(({ involvedObject }) => involvedObject.name)
    return same(
      beyond.filter(name => about.includes(name)),
      beyond,
    )
  }
  await waitUntil('Events to say so', isRecorded, patience)
  await first.stop()

  const second = await running(controllersClient)
  await client.delete(pods, { namespace, name: 'p1' })
  await client.mergePatch(services, { namespace, name: beyond[0] ?? '' }, { metadata: { labels: { a: 'b' } } }, { fieldManager })
  // 99 pods are 396 pairs: ten fit as before, so nothing is written.
  await waitUntil(
    'the deleted pod to be out of the slices',
    async () => {
      const all = await client.list(endpointSlices, { namespace })
      return all.every(({ endpoints }) => endpoints?.length === 99) || undefined
    },
    patience,
  )
  expect(second.writes).toEqual([])

  await Promise.all(Array.from({ length: 50 }, (_, at) => client.delete(pods, { namespace, name: `p${at + 2}` })))
  await waitUntil('all to be served again', async () => same(await unserved(), []), patience)
  await waitUntil('their slices to follow', async () => same(await unservedSlices(), []), patience)
  expect(second.writes.toSorted()).toEqual(beyond.map(name => `remove ${name}`))
})

function keyOfAge({ metadata }: Service): string {
  return `${metadata.creationTimestamp} ${metadata.uid}`
}
