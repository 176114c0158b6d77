import { expect, test } from 'vitest'
import { bucket } from '../../api/services/bucket.ts'
import { serviceClass } from '../../api/services/service-class.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { decide } from './decide.ts'
import type { Facts } from './gather.ts'

const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: 'x',
  lastTransitionTime: 't',
  observedGeneration: 1,
})

type Changes = {
  readonly spec?: object
  readonly status?: object
  readonly ofClass?: object
  readonly capabilities?: object
  readonly namesakes?: readonly object[]
}

function decided({
  spec = {},
  status,
  ofClass = {},
  capabilities = { versioning: true, cors: true, lifecycle: false },
  namesakes = [],
}: Changes) {
  const facts = {
    bucket: {
      ...typeOf(bucket),
      metadata: { namespace: 'acme', name: 'pictures', uid: 'u' },
      spec: { class: 'c', ...spec },
      status,
    },
    tenant: {
      ...typeOf(tenant),
      metadata: { name: 'acme', uid: 'tenant-uid', labels: { tier: 'gold' } },
      spec: { namespace: 'acme' },
    },
    serviceClass: {
      ...typeOf(serviceClass),
      metadata: { name: 'c' },
      spec: { type: 'bucket', plans: [{ name: 'small', limits: {} }], ownNames: false, ...ofClass },
      status: { conditions: [condition('Ready', 'True', 'Answering')], capabilities },
    },
    bindings: [],
    namesakes,
  }
  return decide(facts as unknown as Facts)
}

const typeOf = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) => ({ apiVersion, kind })

test('without a name of its own it has the one that its owner makes, and finds that again', () => {
  const first = decided({})
  expect(first).toMatchObject({ kind: 'keep', mayCreate: true, plan: { name: 'small' } })
  if (first.kind !== 'keep') return
  expect(first.name).toBe(first.owner)
  expect(first.name).toMatch(/^b[a-z2-7]{26}$/)
  expect(decided({})).toEqual(first)
})

test('a name of its own is the name in the store, and says nothing of the owner', () => {
  const own = decided({ spec: { name: 'shop-pictures' }, ofClass: { ownNames: true } })
  expect(own).toMatchObject({ kind: 'keep', name: 'shop-pictures', owner: expect.stringMatching(/^b[a-z2-7]{26}$/) })
  expect(decided({ spec: { name: 'shop-pictures' } })).toMatchObject({ kind: 'refused', reason: 'NameNotAllowed' })
})

test('what it has it keeps, whatever the class and the Tenant say since, and is not made anew', () => {
  const status = { bucket: 'shop-pictures', externalId: 'bold', endpoint: 'https://store.test' }
  expect(decided({ spec: { name: 'shop-pictures' }, status })).toMatchObject({
    kind: 'keep',
    name: 'shop-pictures',
    owner: 'bold',
    mayCreate: false,
  })
  for (const reason of ['BucketMissing', 'NameTaken', 'RefusedByServer']) {
    const refused = { ...status, conditions: [condition('Provisioned', 'False', reason)] }
    expect(decided({ spec: { name: 'shop-pictures' }, status: refused })).toMatchObject({ kind: 'keep', mayCreate: false })
  }
  const begun = { bucket: 'shop-pictures', externalId: 'bold', conditions: [condition('Provisioned', 'False', 'Provisioning')] }
  expect(decided({ spec: { name: 'shop-pictures' }, status: begun, ofClass: { ownNames: true } })).toMatchObject({
    mayCreate: true,
  })
})

test('a name that another Bucket has, or had, in the same store is not taken; the one that has it keeps it', () => {
  const [spec, ofClass] = [{ name: 'shop-pictures' }, { ownNames: true, provider: { s3: { endpoint: 'https://store.test' } } }]
  const complete = { bucket: 'shop-pictures', endpoint: 'https://store.test' }
  const named = (...namesakes: readonly object[]) => decided({ spec, ofClass, namesakes })
  expect(named({ spec: { class: 'c' }, status: complete })).toMatchObject({ kind: 'refused', reason: 'NameTaken' })
  expect(named({ spec: { class: 'of-the-same-store' }, status: complete })).toMatchObject({ reason: 'NameTaken' })
  expect(named({ spec: { class: 'd' }, status: { ...complete, endpoint: 'https://other.test' } })).toMatchObject({ kind: 'keep' })
  // It only asked for it.
  expect(named({ spec: { class: 'c' }, status: { bucket: 'shop-pictures' } })).toMatchObject({ kind: 'keep' })
  const namesakes = [{ spec: { class: 'c' }, status: complete }]
  expect(decided({ spec, ofClass, namesakes, status: { ...complete, externalId: 'bold' } })).toMatchObject({ kind: 'keep' })
})

test.each<[string, Changes, string]>([
  ['a class for databases', { ofClass: { type: 'postgresql' } }, 'ClassOfOtherType'],
  ['a class for others', { ofClass: { tenants: { matchLabels: { tier: 'free' } } } }, 'ClassNotAllowed'],
  ['a plan that is not there', { spec: { plan: 'large' } }, 'PlanNotFound'],
  [
    'versions that the store does not keep',
    { spec: { versioning: true }, capabilities: { versioning: false } },
    'CapabilityMissing',
  ],
  ['rules for browsers that the store does not have', { spec: { cors: [{}] }, capabilities: {} }, 'CapabilityMissing'],
  [
    'rules by age that the store does not have',
    { spec: { lifecycle: [{ expireAfterDays: 1 }] }, capabilities: { versioning: true, cors: true } },
    'CapabilityMissing',
  ],
  [
    'rules about versions that the store does not keep',
    { spec: { versioning: false, lifecycle: [{ expireFormerVersionsAfterDays: 1 }] }, capabilities: { lifecycle: true } },
    'CapabilityMissing',
  ],
])('%s: refused', (_, changes, reason) => {
  expect(decided(changes)).toMatchObject({ kind: 'refused', reason })
})

test('no versions and no rules need nothing of the store', () => {
  expect(decided({ spec: { versioning: false, cors: [], lifecycle: [] }, capabilities: {} })).toMatchObject({ kind: 'keep' })
  const lifecycle = [{ prefix: 'tmp/', expireAfterDays: 1, abortUploadsAfterDays: 1 }]
  expect(decided({ spec: { lifecycle }, capabilities: { lifecycle: true } })).toMatchObject({ kind: 'keep' })
})

test('what the store does not have is named by its fields, with the cure', () => {
  const spec = { versioning: true, cors: [{}], lifecycle: [{ expireAfterDays: 1 }] }
  const message = 'spec.versioning, spec.cors, spec.lifecycle: the store of ServiceClass c does not have it: leave it out'
  expect(decided({ spec, capabilities: {} })).toMatchObject({ message })
})
