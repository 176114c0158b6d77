// What the controller writes, and how often: every label once, also while the cache does not show it yet.
import { expect, test } from 'vitest'
import type { CountedEndpointSlice, ResourceQuota, Service } from '../../api/builtin/index.ts'
import { serviceProxyLabel, tooManyEndpoints } from '../../api/tenancy/service-proxy.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { KubeError } from '../../kube/client/errors.ts'
import type { ObjectEvent } from '../../kube/object/events.ts'
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

function sliceOf(service: string, endpointCount: number): CountedEndpointSlice {
  const metadata = { name: `${service}-1`, namespace: 'acme', labels: { 'kubernetes.io/service-name': service } }
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, endpointCount }
}

function quotaOf(pods: string): ResourceQuota {
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, status: { used: { pods } } }
}

type State = { readonly services: readonly Service[]; readonly slices: readonly CountedEndpointSlice[]; readonly pods?: string }

function setUp(state: State, gone: readonly string[] = []) {
  const writes: string[] = []
  const events: string[] = []
  let version = 1
  const write = (name: string, text: string, labels: Readonly<Record<string, string>>): Service => {
    if (gone.includes(name)) throw new KubeError('gone', { status: 404, reason: 'NotFound' })
    writes.push(text)
    version += 1
    const { metadata, ...rest } = serviceNamed(name, labels)
    return { ...rest, metadata: { ...metadata, resourceVersion: String(version) } }
  }
  const clock = createFakeClock()
  const deps = {
    client: {
      apply: async (_type: unknown, { metadata }: { metadata: { name: string; uid?: string; labels?: object } }) =>
        write(metadata.name, `apply ${metadata.name} ${metadata.uid}`, { ...metadata.labels }),
      mergePatch: async (_type: unknown, { name }: { name: string }) => write(name, `patch ${name}`, {}),
    } as never,
    tenants: { get: () => tenant },
    servicesIn: () => state.services,
    slicesIn: () => state.slices,
    quotasIn: () => [quotaOf('0'), quotaOf(state.pods ?? '0')],
    ownWrites: createOwnWrites(),
    releases: createKeyedBuckets({ burst: 1, millisecondsPerToken: 3000 }, clock),
    events: { record: (_object: unknown, event: ObjectEvent) => void events.push(`${event.reason}: ${event.message}`) },
  }
  const run = () => reconcileServiceProxy(deps, { key: { name: 'acme' }, signal: new AbortController().signal })
  return { run, writes, events, state }
}

test('labels what is beyond the bound, with the figures in an Event, and writes nothing again while the cache is behind', async () => {
  const services = ['a', 'b'].map(name => serviceNamed(name))
  const { run, writes, events } = setUp({ services, slices: [sliceOf('a', 1000), sliceOf('b', 50)] })
  expect(await run()).toEqual({ kind: 'done' })
  await run()
  expect(writes).toEqual(['apply b uid-b'])
  expect(events).toEqual([
    'TooManyEndpoints: the Services of the namespace have 4,200 pairs of port and endpoint, at most 4,000 are served, and this one has 4 ports × 50 endpoints = 200: its cluster IP does not answer. Run fewer pods behind it, remove ports or Services with the same pods, or replace it by one without a cluster IP (spec.clusterIP: None)',
  ])
})

test('takes labels off when they fit, at the pace of the namespace', async () => {
  const services = ['a', 'b'].map(name => serviceNamed(name, { [serviceProxyLabel]: tooManyEndpoints }))
  const { run, writes } = setUp({ services, slices: [] })
  const outcome = await run()
  expect(writes).toEqual(['patch a'])
  expect(outcome.kind).toBe('requeue')
})

test('leaves what another proxy serves alone, and counts a Service that was too large to be kept as one with all ports', async () => {
  const other = serviceNamed('other', { [serviceProxyLabel]: 'example' })
  const { spec: _, ...large } = serviceNamed('large')
  const { run, writes } = setUp({ services: [other, large], slices: [sliceOf('other', 5000), sliceOf('large', 1001)] })
  await run()
  expect(writes).toEqual(['apply large uid-large'])
})

test('goes on when a Service is gone', async () => {
  const services = ['a', 'b'].map(name => serviceNamed(name))
  const { run, writes } = setUp({ services, slices: [sliceOf('a', 1001), sliceOf('b', 1001)] }, ['a'])
  await run()
  expect(writes).toEqual(['apply b uid-b'])
})

test('until Kubernetes has counted the endpoints of a Service, all pods of the namespace may be behind it', async () => {
  const services = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(name => serviceNamed(name))
  const bare = { ...serviceNamed('bare'), spec: { ports } }
  const { run, writes, events } = setUp({ services: [...services, bare], slices: [sliceOf('g', 0)], pods: '200' })
  await run()
  expect(writes).toEqual(['apply f uid-f'])
  expect(events).toEqual([
    expect.stringContaining('4,800 pairs of port and endpoint, at most 4,000 are served, and this one has up to 4 ports × 200'),
  ])
})
