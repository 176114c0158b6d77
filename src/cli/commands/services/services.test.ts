// What the commands on services send and say, and what they refuse before anything is sent. Everything else decides the API
// server.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { bindingAccesses, type ServiceBinding } from '../../../api/services/service-binding.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import { serviceClass as classKind } from '../../../api/services/service-class.ts'
import { serviceInstance as instanceKind } from '../../../api/services/service-instance.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { serviceInstances } from '../../kubernetes/kinds.ts'
import { accessNames, whenDeletedNames } from '../../program/services.ts'
import { attached, detached } from './attach.ts'
import { details as classDetails, rowOf as classRow, offeredTo } from './classes.ts'
import { difference, manifestOf, onlyClass, refuseWhatIsNotOffered } from './create.ts'
import { agesText, credentialOf } from './credentials.ts'
import { dataText, obstacle, refuseUnsaid } from './delete.ts'
import { chosenBindings, rotationTime } from './rotate.ts'
import { type AnyService, type ServiceObject, serviceKinds } from './service-kinds.ts'
import { details, rowOf } from './show.ts'

const now = new Date('2026-11-22T12:00:00Z')
const [kind = expect.fail('no kind'), bucketKind = expect.fail('no kind of buckets')] = serviceKinds

const output = 'table' as const
const serviceClass = (spec: object = {}) =>
  ({
    metadata: { name: 'postgresql', generation: 1 },
    spec: {
      type: 'postgresql',
      plans: [
        { name: 'small', limits: { connections: 20, storage: '1Gi' } },
        { name: 'large', default: true, limits: { connections: 100, storage: '10Gi' } },
      ],
      extensions: ['pg_trgm'],
      credentials: { maxAgeDays: 30, overlapMinutes: 60 },
      ...spec,
    },
  }) as unknown as ServiceClass

const ready = (reason: string, status = 'True') => ({
  observedGeneration: 1,
  conditions: [{ type: 'Ready', status, reason, message: 'm', observedGeneration: 1 }],
})

const instance = (spec: object = {}, status: object = ready('Provisioned')): AnyService => ({
  kind,
  service: {
    metadata: { name: 'shop-db', namespace: 'acme', uid: 'i', generation: 1 },
    spec: { class: 'postgresql', whenDeleted: 'Keep', ...spec },
    status: { plan: 'small', usage: { storage: '120Mi', measuredAt: '2026-11-22T11:59:00Z' }, ...status },
  } as unknown as ServiceObject,
})

const binding = (application: string | undefined, status: object = {}, name = 'shop-db-1f0c95d2') =>
  ({
    metadata: {
      name,
      uid: `uid-of-${name}`,
      generation: 1,
      ...(application === undefined
        ? {}
        : { ownerReferences: [{ kind: 'Application', name: application, uid: 'a', controller: true }] }),
    },
    spec: { service: { kind: 'ServiceInstance', name: 'shop-db' }, access: 'ReadWrite' },
    status: { ...ready('Delivered'), version: 3, binding: { name: `binding-${name}` }, ...status },
  }) as unknown as ServiceBinding

const application = (spec: object = {}) => ({ metadata: { name: 'shop' }, spec }) as unknown as Application
const wanted = { kind, service: 'shop-db' }

test('the words of the options are those of the kinds', () => {
  expect(bindingAccesses).toEqual(expect.arrayContaining([...accessNames]))
  const schema = JSON.stringify(instanceKind.options.spec)
  for (const name of whenDeletedNames) expect(schema).toContain(`"${name}"`)
  for (const { classType } of serviceKinds) expect(JSON.stringify(classKind.options.spec)).toContain(`'${classType}'`)
})

describe('attach', () => {
  test('adds one entry, and finds it again', () => {
    const first = attached(application(), wanted)
    expect(first.services).toEqual([{ name: 'shop-db', instance: 'shop-db' }])
    const stored = application({ services: [{ name: 'db', instance: 'shop-db', access: 'ReadWrite', files: true }] })
    expect(attached(stored, wanted).services).toEqual(stored.spec.services)
    expect(attached(stored, { ...wanted, access: 'ReadOnly', files: false }).services).toEqual([
      { name: 'db', instance: 'shop-db', access: 'ReadOnly' },
    ])
    const env = { REPORT_URL: 'uri' }
    expect(attached(stored, { ...wanted, name: 'report', env }).services).toEqual([
      ...(stored.spec.services ?? []),
      { name: 'report', instance: 'shop-db', env },
    ])
  })

  test.each<[string, object, object, RegExp]>([
    [
      'the name is that of another service',
      { services: [{ name: 'shop-db', instance: 'other' }] },
      {},
      /the entry shop-db of shop is another service: give this one another name with --name/,
    ],
    [
      'several entries could be meant',
      { services: ['a', 'b'].map(name => ({ name, instance: 'shop-db' })) },
      {},
      /several entries name shop-db: choose one with --name: a, b/,
    ],
    [
      'another entry sets the variable',
      { services: [{ name: 'other', instance: 'other' }] },
      {},
      /the entry other sets DATABASE_URL, too: give it another name here, such as --env OTHER_URL=uri/,
    ],
    [
      'the Application sets the variable',
      { env: [{ name: 'PGHOST', value: 'x' }] },
      { env: { PGHOST: 'host' } },
      /sekisho env list/,
    ],
    ['the name is too long', {}, { service: 'x'.repeat(41) }, /give it a name with --name/],
  ])('is refused when %s', (_, spec, more, says) => {
    expect(() => attached(application(spec), { ...wanted, ...more })).toThrow(says)
  })

  test('what is wrong between two other entries does not stand in the way', () => {
    const services = ['a', 'b'].map(name => ({ name, instance: name }))
    expect(attached(application({ services }), { ...wanted, env: { X: 'uri' } }).services).toHaveLength(3)
  })
})

test('detach removes every entry of the service, or the named one', () => {
  const services = [
    { name: 'a', instance: 'shop-db' },
    { name: 'b', instance: 'shop-db' },
    { name: 'c', instance: 'other' },
  ]
  const uses = application({ services })
  expect(detached(uses, 'shop-db', undefined).services).toEqual([{ name: 'c', instance: 'other' }])
  expect(detached(uses, 'shop-db', 'b').removed).toEqual([{ name: 'b', instance: 'shop-db' }])
  expect(detached(application(), 'shop-db', undefined).removed).toEqual([])
  expect(() => detached(uses, 'shop-db', 'c')).toThrow('the entry c of shop is not shop-db')
  expect(() => detached(uses, 'shop-db', 'bb')).toThrow('shop has no entry bb in spec.services; did you mean b?')
})

describe('create', () => {
  test('says what the class has instead of what it does not', () => {
    expect(() => refuseWhatIsNotOffered(serviceClass(), { output, plan: 'smal' })).toThrow(
      'ServiceClass postgresql has no plan smal: it has small, large (--plan); did you mean small?',
    )
    expect(() => refuseWhatIsNotOffered(serviceClass(), { output, extension: ['dblink'] })).toThrow(
      'ServiceClass postgresql does not allow the extension dblink: it allows pg_trgm',
    )
    expect(() => refuseWhatIsNotOffered(serviceClass(), { output, extension: ['pg_trgm'] })).not.toThrow()
    const two = { plans: ['a', 'b'].map(name => ({ name, limits: { storage: '1Gi' } })) }
    expect(() => refuseWhatIsNotOffered(serviceClass(two), { output })).toThrow(
      'has no default plan: set spec.plan to one of a, b',
    )
  })

  test.each([
    [{}, undefined],
    [{ plan: 'large' }, 'its plan is the default one'],
    [{ whenDeleted: 'Delete' }, 'its whenDeleted is Keep'],
    [{ parameters: { postgresql: { extensions: ['pg_trgm'] } } }, 'its extensions are others'],
    [{ class: 'other' }, 'it is of class postgresql, which cannot change'],
  ])('what exists fits %j or is named: %s', (more, says) => {
    const spec = { class: 'postgresql', ...more } as ServiceObject['spec']
    const { apiVersion, kind: word } = serviceInstances
    const found = difference(instance().service, { apiVersion, kind: word, metadata: { name: 'shop-db' }, spec })
    if (says === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(says)
  })
})

const bucketClass = (more: object = {}) =>
  ({
    metadata: { name: 'bucket', generation: 1 },
    spec: {
      type: 'bucket',
      plans: [{ name: 'small', default: true, limits: { storage: '10Gi' } }],
      credentials: { maxAgeDays: 30, overlapMinutes: 60 },
      ...more,
    },
  }) as unknown as ServiceClass

describe('without --class', () => {
  const [database, other] = [serviceClass(), { ...serviceClass(), metadata: { name: 'other' } } as ServiceClass]

  test('the only class is meant, or the only one of databases beside those of buckets', () => {
    expect(onlyClass([bucketClass()]).metadata.name).toBe('bucket')
    expect(onlyClass([bucketClass(), database]).metadata.name).toBe('postgresql')
    expect(onlyClass([database, bucketClass({ type: 'queue' })]).metadata.name).toBe('postgresql')
  })

  test('what is not certain has to be named', () => {
    expect(() => onlyClass([database, other, bucketClass()])).toThrow('choose one with --class: postgresql, other, bucket')
    expect(() => onlyClass([bucketClass(), bucketClass()])).toThrow('choose one with --class')
    expect(() => onlyClass([bucketClass({ type: 'queue' })])).toThrow('no service is offered')
  })
})

describe('classes', () => {
  const plans = [{ name: 'small', limits: { storage: '1Gi' } }]

  test('a plan of databases that says nothing of connections has 20', () => {
    expect(classDetails(classRow(serviceClass({ plans }), true))).toContain('1Gi of space, 20 connections for each credential')
  })

  test('plans of buckets have no connections, and their classes no extensions', () => {
    const text = classDetails(classRow(bucketClass(), true))
    expect(text).toContain('10Gi of space; the one without --plan')
    expect(text).not.toMatch(/connections|undefined|Extensions/)
  })
})

describe('buckets', () => {
  const status = {
    ...ready('Provisioned'),
    bucket: 'b2x',
    endpoint: 'https://s3.example.com',
    usage: { storage: '3Gi', objects: 1200, partial: true, measuredAt: '2026-11-22T11:59:00Z' },
  }
  const bucket = (spec: object = {}, more: object = status): AnyService => ({
    kind: bucketKind,
    service: {
      metadata: { name: 'pictures', namespace: 'acme', uid: 'b', generation: 1 },
      spec: { class: 'bucket', whenDeleted: 'Keep', emptyWhenDeleted: false, ...spec },
      status: more,
    } as unknown as ServiceObject,
  })
  const ofBucket = {
    ...binding('shop'),
    spec: { service: { kind: 'Bucket', name: 'pictures' }, access: 'WriteOnly', prefix: 'inbox/' },
  } as ServiceBinding
  const uses = application({ services: [{ name: 'up', bucket: 'pictures', access: 'WriteOnly' }] })

  test('info shows the store, the objects, and who uses it; a database of the name is another thing', () => {
    const around = { classes: [bucketClass()], bindings: [ofBucket, binding('other')], applications: [uses] }
    const row = rowOf(bucket(), around)
    const text = details(row, now)
    expect(text).toMatch(/Address +https:\/\/s3\.example\.com\n/)
    expect(text).toMatch(/Bucket +b2x/)
    expect(text).toMatch(/space +3Gi or more of 10Gi, measured 60s ago/)
    expect(text).toMatch(/objects +1200 or more, measured 60s ago/)
    expect(text).toMatch(/Used by shop +as up, WriteOnly/)
    expect(row.credentials).toHaveLength(1)
    expect(text).not.toMatch(/connections|undefined|\[object/)
    expect(details(rowOf(bucket({}, ready('Provisioned')), around), now)).toMatch(/objects +not measured yet/)
  })

  test('attach writes the field of buckets, with access and prefix', () => {
    const more = { kind: bucketKind, service: 'pictures', access: 'WriteOnly' as const, prefix: 'inbox/' }
    expect(attached(application(), more).services).toEqual([
      { name: 'pictures', bucket: 'pictures', access: 'WriteOnly', prefix: 'inbox/' },
    ])
    const two = application({ services: [{ name: 'a', bucket: 'a', access: 'ReadWrite' }] })
    expect(() => attached(two, more)).toThrow(/the entry a sets AWS_ACCESS_KEY_ID, too: .*--env OTHER_BUCKET=bucket/)
  })

  test('detach takes it away, and asks which of a database and a bucket of one name is meant', () => {
    expect(detached(uses, 'pictures', undefined).services).toEqual([])
    const both = application({
      services: [
        { name: 'a', instance: 'pictures' },
        { name: 'b', bucket: 'pictures' },
      ],
    })
    expect(() => detached(both, 'pictures', undefined)).toThrow(/a database and a bucket of the name pictures: .*--name/)
    expect(detached(both, 'pictures', 'b').services).toEqual([{ name: 'a', instance: 'pictures' }])
  })

  test('create writes a Bucket, rotate finds its credentials, and delete says that objects keep it', () => {
    const named = { kind: bucketKind, name: 'pictures', namespace: 'acme', className: 'bucket' }
    expect(manifestOf(named, { output, plan: 'small' })).toEqual({
      apiVersion: 'services.sekisho.dev/v1alpha1',
      kind: 'Bucket',
      metadata: { name: 'pictures', namespace: 'acme' },
      spec: { class: 'bucket', plan: 'small' },
    })
    expect(chosenBindings([ofBucket, binding('other')], bucket(), undefined)).toEqual([ofBucket])
    expect(() => refuseWhatIsNotOffered(bucketClass(), { output, extension: ['pg_trgm'] })).toThrow('it allows none')
    expect(dataText(bucket(), 'acme')).toContain('its data stay in the store without a credential, and a bucket of the same')
    expect(dataText(bucket({ whenDeleted: 'Delete' }), 'acme')).toContain('it stays while it has objects')
    expect(dataText(bucket({ whenDeleted: 'Delete', emptyWhenDeleted: true }), 'acme')).toBe('its data are deleted, too')
  })
})

test('a class for some is known to be offered by the Tenant, or by what became of an instance', () => {
  const some = serviceClass({ tenants: { matchLabels: { tier: 'gold' } } })
  const tenant = (labels: object) => ({ metadata: { name: 'acme', labels } }) as unknown as Tenant
  expect(offeredTo(serviceClass(), undefined, [])).toBe(true)
  expect(offeredTo(some, tenant({ tier: 'gold' }), [])).toBe(true)
  expect(offeredTo(some, tenant({ tier: 'tin' }), [])).toBe(false)
  expect(offeredTo(some, undefined, [])).toBeUndefined()
  expect(offeredTo(some, undefined, [instance()])).toBe(true)
  expect(offeredTo(some, undefined, [instance({}, ready('ClassNotAllowed', 'False'))])).toBe(false)
  expect(offeredTo(some, undefined, [instance({ class: 'other' })])).toBeUndefined()
})

describe('info', () => {
  const slots = [
    { slot: 'b', state: 'Draining', issuedAt: '2026-10-13T12:00:00Z', until: '2026-11-22T12:40:00Z' },
    { slot: 'a', state: 'Delivered', issuedAt: '2026-11-22T11:40:00Z' },
  ]
  const around = {
    classes: [serviceClass()],
    bindings: [
      binding('shop', { slots }),
      { ...binding(undefined), metadata: { name: 'mine', generation: 1 } },
    ] as ServiceBinding[],
    applications: [application({ services: [{ name: 'db', instance: 'shop-db', access: 'ReadWrite' }] })],
  }

  test('shows the use against the plan, who uses it, and how old its credentials are', () => {
    const text = details(rowOf(instance(), around), now)
    expect(text).toContain('120Mi of 1Gi, measured 60s ago')
    expect(text).toMatch(/connections of each credential +at most 20/)
    expect(text).toMatch(/When deleted +Keep: the data stay/)
    expect(text).toMatch(/Used by shop +as db, ReadWrite/)
    expect(text).toMatch(
      /Credential shop-db-1f0c95d2 +ReadWrite, for shop, 20m old; the former one, 40d old, works for 40m more at most/,
    )
    expect(text).toMatch(/Credential mine +ReadWrite, for pods of your own, none yet/)
  })

  test('of one that nothing uses says how to use it, and where to look when it is not ready', () => {
    const nothing = { classes: [], bindings: [], applications: [] }
    const text = details(rowOf(instance({}, ready('ServerUnreachable', 'False')), nothing), now)
    expect(text).toContain('sekisho services attach shop-db APPLICATION')
    expect(text).toContain('sekisho why serviceinstance/shop-db')
  })

  test('a credential that is being made has no age', () => {
    const making = binding('shop', { slots: [{ slot: 'a', state: 'Making', issuedAt: '2026-11-22T11:59:59Z' }] })
    expect(agesText(credentialOf(making), now)).toBe('one is being made')
  })
})

describe('rotate', () => {
  test('asks for a time after every credential, also with a clock that is late', () => {
    const slots = [{ slot: 'a', state: 'Delivered', issuedAt: '2026-11-22T12:00:05.000Z' }]
    expect(rotationTime([binding('shop')], now)).toBe('2026-11-22T12:00:00.000Z')
    expect(rotationTime([binding('shop', { slots })], now)).toBe('2026-11-22T12:00:05.001Z')
  })

  test('is for all credentials of the service, or those of one Application', () => {
    const all = [binding('shop'), binding('report', {}, 'report-db-1'), binding(undefined, {}, 'mine')]
    const names = (chosen: readonly ServiceBinding[]) => chosen.map(({ metadata }) => metadata.name)
    expect(names(chosenBindings(all, instance(), undefined))).toEqual(['shop-db-1f0c95d2', 'report-db-1', 'mine'])
    expect(names(chosenBindings(all, instance(), 'report'))).toEqual(['report-db-1'])
    expect(() => chosenBindings(all, instance(), 'reprot')).toThrow(
      'Application reprot has no credential of shop-db; shop, report have; did you mean report?',
    )
    expect(() => chosenBindings([], instance(), undefined)).toThrow('shop-db has no credential: no Application uses it')
  })
})

describe('delete', () => {
  const row = (more: object) => rowOf(instance(), { classes: [], bindings: [], applications: [], ...more })

  test('is refused while something uses it, with the command that ends that', () => {
    const applications = [application({ services: [{ name: 'db', instance: 'shop-db' }] })]
    expect(obstacle(row({ applications }))).toBe('shop-db is used by shop: first run sekisho services detach shop-db shop')
    expect(obstacle(row({ bindings: [binding(undefined, {}, 'mine')] }))).toContain('kubectl delete servicebinding mine')
    expect(obstacle(row({ bindings: [binding('shop')] }))).toContain('pods of earlier releases of shop still use shop-db')
    expect(obstacle(row({}))).toBeUndefined()
  })

  test('data are lost only when that was said twice', () => {
    const lost = instance({ whenDeleted: 'Delete' })
    expect(() => refuseUnsaid(lost, false)).toThrow(/gone for good: say so with --delete-data, or keep them with kubectl patch/)
    expect(() => refuseUnsaid(lost, true)).not.toThrow()
    expect(() => refuseUnsaid(instance(), true)).toThrow(/its whenDeleted is Keep/)
    expect(() => refuseUnsaid(instance(), false)).not.toThrow()
  })
})
