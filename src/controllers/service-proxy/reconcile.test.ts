// What the controller writes, and how often: every label once, also while the cache does not show it yet.
import { expect, test } from 'vitest'
import type { CountedEndpointSlice, Service } from '../../api/builtin/index.ts'
import {
  serviceProxyLabel,
  tooManyEndpoints,
  uncounted,
  uncountedAgain,
  uncountedSince,
} from '../../api/tenancy/service-proxy.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { KubeError } from '../../kube/client/errors.ts'
import type { ObjectEvent } from '../../kube/object/events.ts'
import { defined } from '../../lib/json/defined.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createOwnWrites } from './own-writes.ts'
import { reconcileServiceProxy } from './reconcile.ts'

const tenant = { metadata: { name: 'acme' }, spec: { namespace: 'acme' } } as unknown as Tenant
const ports = Array.from({ length: 4 }, (_, index) => ({ port: index + 1 }))

const spec = { selector: { app: 'x' }, ports }

function serviceNamed(name: string, labels: Readonly<Record<string, string>> = {}): Service {
  const metadata = { name, namespace: 'acme', uid: `uid-${name}`, resourceVersion: '1', labels }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
  }
}

function sliceOf(service: string, endpointCount: number, proxy?: string, owner = `uid-${service}`): CountedEndpointSlice {
  const labels = { 'kubernetes.io/service-name': service, ...defined({ [serviceProxyLabel]: proxy }) }
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: service, uid: owner, controller: true }]
  const metadata = { name: `${service}-1`, namespace: 'acme', labels, ownerReferences }
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, endpointCount }
}

type State = { readonly services: readonly Service[]; readonly slices: readonly CountedEndpointSlice[] }
type Patch = { readonly metadata: { readonly resourceVersion: string; readonly uid: string; readonly labels: object } }

function setUp(state: State, failing: Readonly<Record<string, number>> = {}, burst = 1) {
  const writes: string[] = []
  const events: string[] = []
  let version = 1
  const clock = createFakeClock()
  const deps = {
    client: {
      async mergePatch(_type: unknown, { name }: { name: string }, { metadata: { uid, resourceVersion, labels } }: Patch) {
        const status = failing[name]
        if (status !== undefined) throw new KubeError('refused', { status, reason: 'Refused' })
        const [value] = Object.values(labels)
        writes.push(`${name} ${uid} ${resourceVersion} ${value}`)
        version += 1
        const { metadata, ...rest } = serviceNamed(name, value === null ? {} : { [serviceProxyLabel]: value })
        return { ...rest, metadata: { ...metadata, resourceVersion: String(version) } }
      },
    } as never,
    tenants: { get: () => tenant },
    servicesIn: () => state.services,
    slicesIn: () => state.slices,
    ownWrites: createOwnWrites(),
    pace: createKeyedBuckets({ burst, millisecondsPerToken: 1000 }, clock),
    events: { record: (_object: unknown, event: ObjectEvent) => void events.push(`${event.reason}: ${event.message}`) },
  }
  const run = () => reconcileServiceProxy(deps, { key: { name: 'acme' }, signal: new AbortController().signal })
  return { run, writes, events, state }
}

test('labels what is beyond the bound, with the figures in an Event, and writes nothing again while the cache is behind', async () => {
  const services = ['a', 'b'].map(name => serviceNamed(name))
  const { run, writes, events } = setUp({ services, slices: [sliceOf('a', 250), sliceOf('b', 50)] })
  expect(await run()).toEqual({ kind: 'done' })
  await run()
  expect(writes).toEqual(['b uid-b 1 sekisho.dev-too-many-endpoints'])
  expect(events).toEqual([
    'TooManyEndpoints: the Services of the namespace have 1,200 pairs of port and endpoint, at most 1,000 are served, and this one has 4 ports × 50 endpoints = 200: its cluster IP does not answer. Run fewer pods behind it, remove ports or Services with the same pods, or replace it by one without a cluster IP (spec.clusterIP: None)',
  ])
})

test('takes labels off when they fit, at the pace of the namespace', async () => {
  const services = ['a', 'b'].map(name => serviceNamed(name, { [serviceProxyLabel]: tooManyEndpoints }))
  const { run, writes, events } = setUp({ services, slices: [] })
  const outcome = await run()
  expect(writes).toEqual(['a uid-a 1 null'])
  expect(events).toEqual([expect.stringContaining('EndpointsWithinBound')])
  expect(outcome.kind).toBe('requeue')
})

test('leaves what another proxy serves alone, and counts a Service that was too large to be kept as one with all ports', async () => {
  const other = serviceNamed('other', { [serviceProxyLabel]: 'example' })
  const { spec: _, ...large } = serviceNamed('large')
  const { run, writes } = setUp({ services: [other, large], slices: [sliceOf('other', 5000), sliceOf('large', 1001)] })
  await run()
  expect(writes).toEqual(['large uid-large 1 sekisho.dev-too-many-endpoints'])
})

test('goes on when a Service is gone, and comes back soon to one that has a newer version', async () => {
  const services = ['a', 'b', 'c'].map(name => serviceNamed(name))
  const slices = services.map(({ metadata: { name } }) => sliceOf(name, 1001))
  const { run, writes } = setUp({ services, slices }, { a: 404, c: 409 })
  expect(await run()).toEqual({ kind: 'requeue', requeueAfterMilliseconds: 100 })
  expect(writes).toEqual(['b uid-b 1 sekisho.dev-too-many-endpoints'])
})

const labelled = (name: string, value: string): Service => serviceNamed(name, { [serviceProxyLabel]: value })

test('a new Service waits for slices of its own, then for all of them, and then for nothing', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const first = setUp({
    services: names.map(name => labelled(name, uncounted)),
    slices: [
      sliceOf('b', 1, uncounted),
      sliceOf('c', 1),
      sliceOf('d', 1, uncounted, 'uid-of-a-former-one'),
      ...[sliceOf('e', 1, uncounted), sliceOf('e', 1)],
    ],
  })
  await first.run()
  expect(first.writes).toEqual(['b uid-b 1 sekisho.dev-uncounted-again'])
  const second = setUp({
    services: names.map(name => labelled(name, uncountedAgain)),
    slices: [...names.slice(1).map(name => sliceOf(name, 1, uncountedAgain)), sliceOf('e', 99, uncounted)],
  })
  expect(await second.run()).toEqual({ kind: 'done' })
  expect(second.writes).toEqual(['b', 'c', 'd', 'f'].map(name => `${name} uid-${name} 1 null`))
  expect(second.events).toEqual([])
})

test('a changed Service waits for slices of that change, and for its turn in the namespace, also where it is beyond the bound', async () => {
  const services = ['a', 'b', 'c', 'd'].map(name => labelled(name, uncountedSince('17')))
  const slices = [
    sliceOf('a', 1, uncountedSince('16')),
    sliceOf('b', 1001, uncountedSince('17')),
    ...['c', 'd'].map(name => sliceOf(name, 1, uncountedSince('17'))),
  ]
  const { run, writes, events } = setUp({ services, slices })
  expect(await run()).toEqual({ kind: 'requeue', requeueAfterMilliseconds: 1000 })
  expect(writes).toEqual(['b uid-b 1 sekisho.dev-too-many-endpoints'])
  expect(events).toEqual([expect.stringContaining('TooManyEndpoints')])
  const later = setUp({ services, slices }, {}, 2)
  expect(await later.run()).toMatchObject({ kind: 'requeue' })
  expect(later.writes).toEqual(['b uid-b 1 sekisho.dev-too-many-endpoints', 'c uid-c 1 null'])
})

test('new Services take turns, and what is served beyond the bound is taken away before any turn', async () => {
  const services = [...['a', 'b'].map(name => labelled(name, uncounted)), serviceNamed('large')]
  const slices = [...['a', 'b'].map(name => sliceOf(name, 1, uncounted)), sliceOf('large', 1001)]
  const { run, writes } = setUp({ services, slices })
  expect(await run()).toMatchObject({ kind: 'requeue' })
  expect(writes).toEqual(['large uid-large 1 sekisho.dev-too-many-endpoints', 'a uid-a 1 sekisho.dev-uncounted-again'])
})

test('what kube-proxy programs no endpoints of is served at once', async () => {
  const bare = { ...labelled('bare', uncounted), spec: { ports } }
  const headless = { ...labelled('headless', uncounted), spec: { ...spec, clusterIP: 'None' } }
  const named = { ...labelled('named', uncounted), spec: { ...spec, type: 'ExternalName' } } as Service
  const { run, writes } = setUp({ services: [bare, headless, named], slices: [] })
  await run()
  expect(writes).toEqual(['bare', 'headless', 'named'].map(name => `${name} uid-${name} 1 null`))
})
