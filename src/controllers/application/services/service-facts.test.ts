// What the caches say of an Application's services: which objects count, and what pods reach while something of it goes.
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { Bucket } from '../../../api/services/bucket.ts'
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import type { ServiceInstance } from '../../../api/services/service-instance.ts'
import { serviceFacts } from './service-facts.ts'
import { bindingOf, classOf, entryOf } from './testing/service-objects.ts'

const application: Application = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'Application',
  metadata: { name: 'shop', namespace: 'acme', uid: 'uid-shop' },
  spec: { chart: 'web', services: [{ name: 'db', instance: 'shop-db', access: 'ReadWrite' }] },
}

const instance = entryOf().service as ServiceInstance
const leaving = <T extends ServiceBinding | ServiceInstance | ServiceClass>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' },
})

type Stored = {
  readonly bindings?: readonly ServiceBinding[]
  readonly instance?: ServiceInstance | undefined
  readonly bucket?: Bucket
  readonly serviceClass?: ServiceClass | undefined
}

function facts(stored: Stored, spec: Application['spec'] = application.spec) {
  const { bindings = [bindingOf()] } = stored
  const found = { instance, serviceClass: classOf(), ...stored }
  return serviceFacts(
    {
      serviceBindings: { byIndex: (_index: string, uid: string) => (uid === 'uid-shop' ? bindings : []) },
      serviceInstances: { get: ({ name }) => (name === 'shop-db' ? found.instance : undefined) },
      buckets: { get: ({ name }) => (name === 'shop-db' ? stored.bucket : undefined) },
      serviceClasses: { get: ({ name }) => (name === 'postgresql' ? found.serviceClass : undefined) },
    },
    { ...application, spec },
  )
}

const way = [{ cidrs: ['10.0.7.12/32'], port: 5432 }]

test('an entry has its binding, instance and class, and pods reach the server, once', () => {
  const { services, reach } = facts({ bindings: [bindingOf(), { ...bindingOf(), metadata: { name: 'other' } }] })
  expect(services).toMatchObject([{ binding: bindingOf(), service: instance, serviceClass: classOf() }])
  expect(reach).toEqual(way)
})

test('an entry of a bucket has the Bucket of its name, and pods reach the store', () => {
  const bucket = {
    ...instance,
    kind: 'Bucket',
    metadata: { namespace: 'acme', name: 'shop-db', uid: 'uid-bucket' },
  } as unknown as Bucket
  const store = classOf({ type: 'bucket', provider: { s3: { endpoint: 'https://s3.test' } } } as object)
  const binding = bindingOf()
  const ofBucket = { ...binding, spec: { ...binding.spec, service: { kind: 'Bucket' as const, name: 'shop-db' } } }
  const services = [{ name: 'db', bucket: 'shop-db', access: 'ReadWrite' as const }]
  const found = facts({ bucket, serviceClass: store, bindings: [ofBucket] }, { ...application.spec, services })
  expect(found).toMatchObject({ services: [{ service: bucket }], reach: [{ cidrs: ['10.0.7.12/32'], port: 443 }] })
})

test('without a credential there is no way, whatever the entry names: the class may not be offered to the tenant', () => {
  const { binding: _name, ...status } = bindingOf().status ?? {}
  expect(facts({ bindings: [{ ...bindingOf(), status }] }).reach).toEqual([])
})

test('what is being deleted counts as absent, but the way stays open until it is gone', () => {
  expect(facts({ instance: leaving(instance) })).toMatchObject({
    services: [{ service: undefined, serviceEnds: true }],
    reach: way,
  })
  expect(facts({ serviceClass: leaving(classOf()) })).toMatchObject({ services: [{ serviceClass: undefined }], reach: way })
  expect(facts({ bindings: [leaving(bindingOf())] })).toMatchObject({ services: [{ binding: undefined }], reach: way })
  expect(facts({ instance: undefined }).reach).toEqual([])
  expect(facts({ instance: undefined }).services[0]).not.toHaveProperty('serviceEnds')
})

test('the way stays open for pods of an earlier release, whose entry is gone, and is not opened before there is a credential', () => {
  expect(facts({}, { chart: 'web' })).toMatchObject({ services: [], reach: way })
  expect(facts({ bindings: [] }).reach).toEqual([])
})
