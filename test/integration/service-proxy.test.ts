// The bound on ports × endpoints on a real API server with Kubernetes' own controllers: Services are labelled as they are made
// and changed, and when they are beyond the bound, Kubernetes copies the label to the EndpointSlices, and it is taken off from
// those that are counted and fit. What kube-proxy would see is watched with its own selectors.
import { expect, onTestFinished, test } from 'vitest'
import { policyFiles } from '../../src/admission/policies.ts'
import {
  type CoreEvent,
  countedEndpointSlices,
  endpointSlices,
  events,
  pods,
  type Service,
  services,
} from '../../src/api/builtin/index.ts'
import { labels } from '../../src/api/names.ts'
import { isUncounted, serviceProxyLabel, tooManyEndpoints, uncounted } from '../../src/api/tenancy/service-proxy.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { createServiceProxyController } from '../../src/controllers/service-proxy/index.ts'
import { createCaches } from '../../src/kube/cache/caches.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { messageOf } from '../../src/lib/errors.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { limits, timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { impersonation } from '../attack/impersonation.ts'
import { withFixture } from '../fixtures/application-fixture.ts'
import { testAdmin, testKubeconfig } from '../fixtures/harness.ts'
import { startManager } from '../fixtures/open-manager.ts'
import { admissionPath } from '../fixtures/policies.ts'
import { onlyNamed } from '../fixtures/test-clients.ts'

const patience = { timeoutMilliseconds: limits.rollout }
const fieldManager = 'test'
const ports = Array.from({ length: 4 }, (_, at) => ({ name: `p${at}`, port: 80 + at }))

/** Until it is stopped, with the writes that it sends. */
async function running(client: KubeClient) {
  const writes: string[] = []
  const noting: KubeClient = {
    ...client,
    mergePatch(type, key, patch, options) {
      const { labels: set } = (patch as unknown as { metadata: { labels: Record<string, string | null> } }).metadata
      writes.push(`${set[serviceProxyLabel] ?? 'served'} ${key.name}`)
      return client.mergePatch(type, key, patch, options)
    },
  }
  // What a burst shows is tested, not how long it takes.
  const pace = { burst: 10_000, millisecondsPerToken: 1 }
  const { stop } = await startManager(noting, parts => [createServiceProxyController({ ...parts, pace })])
  onTestFinished(stop)
  return { writes, stop }
}

/** As in a namespace of a tenant, and only there. */
async function installMutation(namespace: string): Promise<void> {
  const admin = await testAdmin()
  const files = policyFiles()
  const [policy, binding, ...rule] = ['service-proxy-mutation', 'service-proxy'].flatMap(name => files.get(`${name}.yaml`) ?? [])
  for (const manifest of [policy, binding, ...rule]) {
    if (manifest === undefined) throw new Error('a policy is missing')
    const name = `${namespace}-${manifest.metadata.name}`
    const spec = manifest['spec'] as { readonly policyName?: string; readonly matchConstraints?: object }
    const here = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } }
    const narrowed = {
      ...spec,
      ...(spec.policyName === undefined ? { matchConstraints: { ...spec.matchConstraints, ...here } } : { policyName: name }),
    }
    const object = { ...manifest, metadata: { name }, spec: narrowed }
    await admin.apply(admissionPath(object), object)
    onTestFinished(async () => void (await admin.call('DELETE', admissionPath(object))))
  }
  await waitUntil(
    'the policies to be in force',
    async () => {
      const answer = (await admin.call('POST', `/api/v1/namespaces/${namespace}/services?dryRun=All`, {
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'probe' }, spec: { selector: { a: 'b' }, ports } },
      })) as Service
      return answer.metadata.labels?.[serviceProxyLabel] === uncounted
    },
    patience,
  )
}

/** A person of the tenant, who may do everything there. */
async function personIn(namespace: string) {
  const admin = await testAdmin()
  const group = `people:${namespace}`
  await admin.call('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: 'people' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
  })
  const people = await impersonation(testKubeconfig())
  onTestFinished(() => people.close())
  return async (method: string, path: string, body: object, type?: string): Promise<Service> => {
    const identity = { user: 'github|github.localhost|7', groups: [group] }
    const answer = await people.send(identity, { method, path: `/api/v1/namespaces/${namespace}/services${path}`, body, type })
    if (answer.status > 299) throw new Error(`${answer.status}: ${answer.message}`)
    return answer.body as Service
  }
}

/** The pairs that a kube-proxy sees, whenever one of its watches says something: the most until now. */
async function watchPairs(client: KubeClient, namespace: string) {
  const caches = createCaches({ client, log: silentLog, clock: systemClock, random: Math.random })
  const withoutProxy = `!${serviceProxyLabel}`
  const seen = caches.of(services, { namespace, labelSelector: withoutProxy })
  const scope = { namespace, labelSelector: `${withoutProxy},!service.kubernetes.io/headless` }
  const slices = caches.of(countedEndpointSlices, scope)
  let most = 0
  const pairs = (): number =>
    slices.list().reduce((sum, { metadata, endpointCount }) => {
      const service = seen.get({ namespace, name: metadata.labels?.['kubernetes.io/service-name'] ?? '' })
      return sum + (service?.spec?.ports?.length ?? 0) * endpointCount
    }, 0)
  const look = (): void => {
    most = Math.max(most, pairs())
  }
  caches.subscribe(services, { namespace, labelSelector: withoutProxy }, look)
  caches.subscribe(countedEndpointSlices, scope, look)
  caches.start()
  onTestFinished(() => caches.stop())
  await waitUntil('the watches to begin', async () => (seen.synced() && slices.synced()) || undefined, patience)
  return { pairs, most: () => most }
}

async function tenantWithPods(count: number) {
  const { client, controllersClient, namespace } = await withFixture()
  await installMutation(namespace)
  const account = { host: 'github.localhost', id: 1, login: 'acme', type: 'User' as const }
  // Four pairs for each: 4,000.
  const limits = { concurrentBuilds: 2, tokensPerHour: 600, applications: 50, resources: { pods: 1000 } }
  const spec = { account, namespace, roles: [], limits }
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
    serve: (name: string, ownLabels = {}, app = 'x') =>
      client.create(
        services,
        {
          ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace, labels: ownLabels } },
          spec: { selector: { app }, ports, publishNotReadyAddresses: true } as Service['spec'] & object,
        },
        { fieldManager },
      ),
    unserved: async () => {
      const all = await client.list(services, { namespace, labelSelector: `${serviceProxyLabel}=${tooManyEndpoints}` })
      return all.map(({ metadata }) => metadata.name).toSorted()
    },
    /** The Services of the slices that kube-proxy does not look at. */
    uncountedOnes: async () => {
      const all = await client.list(services, { namespace, labelSelector: serviceProxyLabel })
      return all.filter(({ metadata }) => isUncounted(metadata.labels?.[serviceProxyLabel])).map(({ metadata }) => metadata.name)
    },
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

test('the Services beyond the bound are taken away from kube-proxy, those of Applications last, and come back', async () => {
  const { client, controllersClient, namespace, serve, unserved, uncountedOnes, unservedSlices } = await tenantWithPods(100)
  const first = await running(controllersClient)
  // Each has 400 pairs: ten of them are 4,000.
  const made: Service[] = []
  for (let at = 0; at < 11; at++) made.push(await serve(`s${at}`))
  await serve('of-application', { [labels.application]: 'shop' })
  const inOrder = made.toSorted((a, b) => (keyOfAge(a) < keyOfAge(b) ? -1 : 1)).map(({ metadata }) => metadata.name)
  const beyond = inOrder.slice(-2).toSorted()
  await waitUntil('all to be counted', async () => same(await uncountedOnes(), []), patience)
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
      return all.every(({ endpoints }) => endpoints?.length === 99)
    },
    patience,
  )
  expect(second.writes).toEqual([])

  await Promise.all(Array.from({ length: 50 }, (_, at) => client.delete(pods, { namespace, name: `p${at + 2}` })))
  await waitUntil('all to be served again', async () => same(await unserved(), []), patience)
  await waitUntil('their slices to follow', async () => same(await unservedSlices(), []), patience)
  // The slices of a Service shrink before those of another: one may be served, taken away for an older one, and served again.
  expect([...new Set(second.writes.map(write => write.split(' ')[1]))].toSorted()).toEqual(beyond)
})

test('a new Service is served when it is counted, and no burst shows kube-proxy more than the bound', {
  timeout: timeLimit(240_000),
}, async () => {
  // More than one slice can have.
  const { client, controllersClient, namespace, serve, unserved, uncountedOnes } = await tenantWithPods(120)
  const person = await personIn(namespace)
  const labelOf = ({ metadata }: Service): string | undefined => metadata.labels?.[serviceProxyLabel]
  expect(labelOf(await serve('first'))).toBe(uncounted)
  const { writes } = await running(controllersClient)
  await waitUntil('it to be counted', async () => same(await uncountedOnes(), []), patience)
  const watch = await watchPairs(controllersClient, namespace)
  await waitUntil('it to be served', async () => watch.pairs() === 480, patience)
  await serve('second')
  await waitUntil('the second to be served', async () => watch.pairs() === 960, {
    ...patience,
    everyMilliseconds: 10,
  })
  expect(writes.filter(write => write.endsWith(' second'))).toEqual(['sekisho.dev-uncounted-again second', 'served second'])
  await Promise.all(['first', 'second'].map(name => client.delete(services, { namespace, name })))

  const names = Array.from({ length: 40 }, (_, at) => `s${at}`)
  const settled = async (beyond: number, pairs: number): Promise<void> => {
    const now = async () => same([(await uncountedOnes()).length, (await unserved()).length, watch.pairs()], [0, beyond, pairs])
    await waitUntil('all to be counted', now, { timeoutMilliseconds: limits.build })
    // An array, so that a failure shows both.
    expect([watch.most(), watch.most() <= 4000]).toEqual([expect.any(Number), true])
  }
  await Promise.all(names.map(name => serve(name)))
  // Eight have 480 pairs each.
  await settled(32, 3840)
  const lead = (app: string) =>
    Promise.all(names.map(name => person('PATCH', `/${name}`, { spec: { selector: { app } } }, 'application/merge-patch+json')))
  await lead('nothing')
  await waitUntil('most to be served without endpoints', async () => (await uncountedOnes()).length < 10, patience)
  await lead('x')
  await waitUntil('many to be beyond the bound', async () => (await unserved()).length > 30, patience)
  // A count of the selector between says nothing about the last one.
  await lead('nothing')
  await waitUntil('some to be counted', async () => (await unserved()).length < 25, patience)
  await lead('x')
  await waitUntil('many to be beyond the bound', async () => (await unserved()).length > 30, patience)
  await settled(32, 3840)
})

test('what people and the platform write keeps the label, and each change of what is served makes it another one', async () => {
  const { client, controllersClient, namespace } = await tenantWithPods(0)
  const person = await personIn(namespace)
  const live = async () => {
    const metadata = (await client.get(services, { namespace, name: 'web' }))?.metadata
    return { label: metadata?.labels?.[serviceProxyLabel], version: metadata?.resourceVersion ?? '' }
  }
  const file = (spec: object, metadata: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', ...metadata },
    spec: { selector: { app: 'x' }, ports, ...spec },
  })
  const since = ({ version }: { readonly version: string }): string => `${uncounted}-${version}`
  const ways: Readonly<Record<string, (spec: object, metadata?: object) => Promise<unknown>>> = {
    apply: (spec, metadata) =>
      person('PATCH', '/web?fieldManager=kubectl&force=true', file(spec, metadata), 'application/apply-patch+yaml'),
    'apply by the platform': (spec, metadata) =>
      controllersClient.apply(
        services,
        { ...file(spec, metadata), metadata: { name: 'web', namespace, ...metadata } },
        { fieldManager: 'sekisho.dev/application', force: true },
      ),
  }
  for (const [way, write] of Object.entries(ways)) {
    await write({})
    const made = await live()
    expect([way, made.label]).toEqual([way, uncounted])
    await write({})
    expect(await live()).toEqual(made)
    await write({}, { annotations: { a: 'b' } })
    const annotated = await live()
    expect(annotated.label).toBe(uncounted)
    await write({ selector: { app: 'y' } })
    const changed = await live()
    expect(changed.label).toBe(since(annotated))
    // As the controller does when it is counted.
    const metadata = { labels: { [serviceProxyLabel]: null } }
    await controllersClient.mergePatch(services, { namespace, name: 'web' }, { metadata }, { fieldManager })
    const served = await live()
    expect(served.label).toBeUndefined()
    await write({ selector: { app: 'y' } })
    expect(await live()).toEqual(served)
    await client.delete(services, { namespace, name: 'web' })
  }
  const replace = (spec: object) => person('PUT', '/web', file(spec))
  await person('POST', '', file({}))
  await replace({})
  expect((await live()).label).toBe(uncounted)
  const before = await live()
  await replace({ ports: ports.slice(1) })
  expect((await live()).label).toBe(since(before))
  await person('PATCH', '/web', { metadata: { labels: null } }, 'application/merge-patch+json')
  expect((await live()).label).toBe(since(before))
  const forged = { metadata: { labels: { [serviceProxyLabel]: since({ version: '1' }) } } }
  // Of the policies only those that change Services were waited for.
  await waitUntil('a forged label to be refused', () =>
    person('PATCH', '/web?dryRun=All', forged, 'application/merge-patch+json').then(
      () => false,
      (error: unknown) => /^403/.test(messageOf(error)),
    ),
  )
  await expect(person('PATCH', '/web', forged, 'application/merge-patch+json')).rejects.toThrow(/^403/)
})

function keyOfAge({ metadata }: Service): string {
  return `${metadata.creationTimestamp} ${metadata.uid}`
}
