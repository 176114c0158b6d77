import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keptObject } from './kept-object.ts'
import type { KubeObject } from './resource.ts'

const long = 'x'.repeat(1_000_000)
const many = (count: number, entry: (index: number) => [string, string]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => entry(index)))

test('an object of any size keeps at most what the platform reads', () => {
  const metadata = {
    name: 'a',
    namespace: 'acme',
    uid: 'u',
    resourceVersion: '7',
    labels: { ...many(5000, at => [`l-${at}`, 'v']), 'sekisho.dev/tenant': 'acme' },
    annotations: { ...many(3, at => [`a-${at}`, long]), 'sekisho.dev/wake': 'now', 'sekisho.dev/large': long },
    finalizers: [...Array.from({ length: 5000 }, (_, at) => `other/${at}`), 'sekisho.dev/tenant'],
    ownerReferences: Array.from({ length: 5000 }, (_, at) => ({
      apiVersion: 'v1',
      kind: 'X',
      name: `${at}`,
      uid: `${at}`,
      ...(at === 4000 ? { controller: true } : {}),
    })),
  }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: long } }
  const kept = keptObject<KubeObject>(object, 65_536)
  expect(JSON.stringify(kept).length).toBeLessThan(2000)
  expect(kept).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      ...{ name: 'a', namespace: 'acme', uid: 'u', resourceVersion: '7' },
      labels: { 'sekisho.dev/tenant': 'acme' },
      annotations: { 'sekisho.dev/wake': 'now' },
      finalizers: ['sekisho.dev/tenant', ...Array.from({ length: 20 }, (_, at) => `other/${at}`)],
      ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: '4000', uid: '4000', controller: true }],
    },
  })
})

test('the content of our own kinds stays, and so does that of a cache without a bound', () => {
  const object = (apiVersion: string) => ({ apiVersion, kind: 'X', metadata: { name: 'a' }, spec: { text: long } })
  expect(keptObject<KubeObject>(object('apps.sekisho.dev/v1alpha1'), 1000)).toEqual(object('apps.sekisho.dev/v1alpha1'))
  expect(keptObject<KubeObject>(object('apps/v1'))).toEqual(object('apps/v1'))
  expect(keptObject<KubeObject>(object('apps/v1'), 1000)).toEqual({ apiVersion: 'apps/v1', kind: 'X', metadata: { name: 'a' } })
})

test('of a Release everything but its snapshot is kept', () => {
  const spec = { number: 3, hash: 'x' }
  const release = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'Release', metadata: { name: 'shop-v3' } }
  expect(keptObject<KubeObject & { readonly spec: object }>({ ...release, spec: { ...spec, snapshot: { image: 'i' } } })).toEqual(
    {
      ...release,
      spec,
    },
  )
})

test('keeping twice is keeping once, and what is kept is bounded', () => {
  const texts = fc.dictionary(fc.string(), fc.string({ maxLength: 3000 }), { maxKeys: 40 })
  fc.assert(
    fc.property(texts, texts, fc.json(), (labels, annotations, text) => {
      const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a', labels, annotations }, data: { text } }
      const once = keptObject<KubeObject>(object, 200)
      expect(keptObject(once, 200)).toEqual(once)
      expect(JSON.stringify(once.metadata).length).toBeLessThan(200_000)
    }),
  )
})

test('of an EndpointSlice the number of its endpoints, its Service and the proxy name are kept, also when it is kept again', () => {
  const labelled = { 'kubernetes.io/service-name': 'web', 'service.kubernetes.io/service-proxy-name': 'other' }
  const labels = { ...labelled, 'example.com/other': long }
  const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 's', controller: true }
  const ownerReferences = [{ ...owner, uid: 't', controller: false }, owner]
  const endpoints = Array.from({ length: 100 }, (_, at) => ({ addresses: [`192.0.2.${at}`], conditions: { ready: at > 3 } }))
  const metadata = { name: 'web-1', namespace: 'acme', uid: 'u', resourceVersion: '7', labels, ownerReferences, generation: 3 }
  const slice = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, addressType: 'IPv4', endpoints }
  const kept = keptObject<KubeObject>(slice)
  expect(kept).toEqual({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', endpointCount: 100 },
    metadata: {
      name: 'web-1',
      namespace: 'acme',
      uid: 'u',
      resourceVersion: '7',
      labels: labelled,
      ownerReferences: [owner],
    },
  })
  expect(keptObject(kept)).toEqual(kept)
  expect(keptObject<KubeObject>({ ...slice, endpoints: null } as KubeObject)).toMatchObject({ endpointCount: 0 })
})

test('large metadata keeps the label by which a Service is taken away from kube-proxy', () => {
  const labels = { ...many(5000, at => [`l-${at}`, 'v']), 'service.kubernetes.io/service-proxy-name': 'other' }
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', labels } }
  expect(keptObject(service).metadata.labels).toEqual({ 'service.kubernetes.io/service-proxy-name': 'other' })
})
