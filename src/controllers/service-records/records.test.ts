import { expect, test } from 'vitest'
import { type Bucket, bucket } from '../../api/services/bucket.ts'
import { type ServiceBinding, serviceBinding } from '../../api/services/service-binding.ts'
import { type ServiceInstance, serviceInstance } from '../../api/services/service-instance.ts'
import { bindingRecords, happeningOf, serviceRecords } from './records.ts'

const { apiVersion } = serviceBinding
const time = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
const deletionTimestamp = time(50)

function binding(status: ServiceBinding['status'], metadata: Partial<ServiceBinding['metadata']> = {}): ServiceBinding {
  const owner = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'Application', name: 'shop', uid: 'u', controller: true }
  return {
    apiVersion,
    kind: serviceBinding.kind,
    metadata: { namespace: 'acme', name: 'shop-db', uid: 'uid-1', ownerReferences: [owner], ...metadata },
    spec: { service: { kind: 'ServiceInstance', name: 'db' }, access: 'ReadWrite' },
    ...(status && { status }),
  }
}

const actionsOf = (one: ServiceBinding): readonly string[] =>
  bindingRecords(one).map(({ action, outcome, details }) => `${action} ${details['slot']} ${outcome}`)

test('what was delivered is issued, what drains replaced, what has ended revoked, also when all was missed', () => {
  const status = {
    slots: [
      { slot: 'a' as const, state: 'Delivered' as const, issuedAt: time(3) },
      { slot: 'b' as const, state: 'Draining' as const, issuedAt: time(2), until: time(40) },
    ],
    ended: [{ slot: 'a' as const, issuedAt: time(1), endedAt: time(3) }],
  }
  const records = bindingRecords(binding(status))
  expect(records.map(({ action, details }) => [action, details['slot'], details['issuedAt']])).toEqual([
    ['credential.issued', 'a', time(1)],
    ['credential.issued', 'a', time(3)],
    ['credential.issued', 'b', time(2)],
    ['credential.replaced', 'b', time(2)],
    ['credential.revoked', 'a', time(1)],
  ])
  expect(records[3]).toMatchObject({
    namespace: 'acme',
    object: 'ServiceBinding/acme/shop-db',
    details: { application: 'shop', kind: 'ServiceInstance', service: 'db', access: 'ReadWrite', until: time(40) },
  })
  expect(new Set(records.map(happeningOf)).size).toBe(5)
})

test('one that the platform closed is revoked with its cause', () => {
  const ended = [{ slot: 'a' as const, issuedAt: time(1), endedAt: time(3), cause: 'LockTableFilled' as const }]
  expect(bindingRecords(binding({ ended }))).toMatchObject([
    { action: 'credential.issued' },
    {
      action: 'credential.revoked',
      reason: expect.stringContaining('most locks of the server'),
      details: { slot: 'a', endedAt: time(3), cause: 'LockTableFilled' },
    },
  ])
  // A slot that is only closed has not ended yet.
  const slots = [{ slot: 'a' as const, state: 'Closed' as const, issuedAt: time(1) }]
  expect(actionsOf(binding({ slots }))).toEqual(['credential.issued a allowed'])
})

test('of a bucket it says which, and what of it', () => {
  const spec = { service: { kind: 'Bucket', name: 'pictures' }, access: 'ReadOnly', prefix: 'inbox/' } as const
  const of = { ...binding({ slots: [{ slot: 'a', state: 'Delivered', issuedAt: time(1) }] }), spec }
  const details = { kind: 'Bucket', service: 'pictures', access: 'ReadOnly', prefix: 'inbox/' }
  expect(bindingRecords(of)).toMatchObject([{ action: 'credential.issued', details }])
})

test('what is being made is no credential yet', () => {
  expect(actionsOf(binding({ slots: [{ slot: 'a', state: 'Making', issuedAt: time(1) }] }))).toEqual([])
  expect(actionsOf(binding(undefined))).toEqual([])
})

test('a finalizer that somebody removed leaves credentials of which nothing is known', () => {
  const status = { slots: [{ slot: 'a' as const, state: 'Delivered' as const, issuedAt: time(1) }] }
  const waiting = { deletionTimestamp, finalizers: ['sekisho.dev/service-binding', 'sekisho.dev/service-record'] }
  expect(actionsOf(binding(status, waiting))).toEqual(['credential.issued a allowed'])
  const removed = binding(status, { deletionTimestamp, finalizers: ['sekisho.dev/service-record'] })
  expect(actionsOf(removed)).toEqual(['credential.issued a allowed', 'credential.revoked a failed'])
})

function instance(status: ServiceInstance['status'], metadata: Partial<ServiceInstance['metadata']> = {}): ServiceInstance {
  return {
    apiVersion,
    kind: serviceInstance.kind,
    metadata: { namespace: 'acme', name: 'db', uid: 'uid-2', ...metadata },
    spec: { class: 'postgresql', whenDeleted: 'Keep' },
    ...(status && { status }),
  }
}

const provisioned = {
  type: 'Provisioned',
  status: 'True' as const,
  reason: 'Provisioned',
  message: '',
  lastTransitionTime: time(0),
  observedGeneration: 1,
}

test.each<[string, ServiceInstance, readonly string[]]>([
  ['nothing was made', instance(undefined, { deletionTimestamp }), []],
  ['it exists', instance({ externalId: 's1', conditions: [provisioned] }), ['service.provisioned allowed']],
  [
    'it is being deleted',
    instance({ externalId: 's1' }, { deletionTimestamp, finalizers: ['sekisho.dev/service-instance'] }),
    [],
  ],
  ['kept', instance({ externalId: 's1', end: 'Kept' }, { deletionTimestamp }), ['service.kept allowed']],
  ['deleted', instance({ externalId: 's1', end: 'Deleted' }, { deletionTimestamp }), ['service.deleted allowed']],
  ['its finalizer was removed', instance({ externalId: 's1' }, { deletionTimestamp }), ['service.kept failed']],
])('%s', (_, one, expected) => {
  expect(serviceRecords(one).map(({ action, outcome }) => `${action} ${outcome}`)).toEqual(expected)
})

test('a bucket has the records of an instance, in its own name, and the name that it has in the store', () => {
  const status = { externalId: 'b1', bucket: 'shop-pictures', plan: 'small', conditions: [provisioned] }
  const { apiVersion: version, kind } = bucket
  const metadata = { namespace: 'acme', name: 'pictures', uid: 'uid-3' }
  const spec = { class: 'bucket', whenDeleted: 'Keep' as const, emptyWhenDeleted: false }
  const made: Bucket = { apiVersion: version, kind, metadata, spec, status }
  const details = { uid: 'uid-3', class: 'bucket', plan: 'small', externalId: 'b1', bucket: 'shop-pictures' }
  const provision = { action: 'service.provisioned', object: 'Bucket/acme/pictures', details }
  expect(serviceRecords(made)).toMatchObject([provision])
  const waiting = { ...made, metadata: { ...metadata, deletionTimestamp, finalizers: ['sekisho.dev/bucket'] } }
  expect(serviceRecords(waiting)).toHaveLength(1)
  const ended = (end?: 'Kept' | 'Deleted') =>
    serviceRecords({ ...made, metadata: { ...metadata, deletionTimestamp }, status: { ...status, ...(end && { end }) } })[1]
  expect(ended('Kept')).toMatchObject({ action: 'service.kept', outcome: 'allowed', reason: 'the Bucket was deleted' })
  expect(ended('Deleted')).toMatchObject({ action: 'service.deleted', outcome: 'allowed' })
  expect(ended()).toMatchObject({ action: 'service.kept', outcome: 'failed' })
})
