// Whose content a volume has.
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { isKeptClaimOf, missingRecord } from './volume-claim-rules.ts'

const application = (metadata: object = {}): Application =>
  ({ metadata: { name: 'shop-pr-7', namespace: 'acme', uid: 'u', ...metadata }, spec: { chart: 'web' } }) as Application
const kept = (name: string): object => ({ conditions: [{ type: 'sekisho.dev/KeptFor', status: 'True', message: name }] })
const claim = (metadata: object = {}, status: object = kept('shop-pr-7')) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name: 'shop-pr-7-data',
    labels: { 'sekisho.dev/application': 'shop-pr-7' },
    annotations: { 'sekisho.dev/when-deleted': 'Keep' },
    ...metadata,
  },
  status,
})
const pipeline = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'AppPipeline', name: 'shop', uid: 'p', controller: true }

test('a claim that was kept is found again by an Application of the name', () => {
  expect(isKeptClaimOf(application(), claim())).toBe(true)
  expect(isKeptClaimOf(application({ name: 'shop' }), claim())).toBe(false)
  expect(isKeptClaimOf(application(), claim({ annotations: {} }))).toBe(false)
})

test('and never by a preview, whose pull request may be of a fork: it would read the content, and delete it in the end', () => {
  expect(isKeptClaimOf(application({ ownerReferences: [pipeline] }), claim())).toBe(false)
})

test('labels and annotations prove nothing: a claim that a template planted is of nobody', () => {
  for (const status of [{}, { phase: 'Bound' }, kept('shop')]) expect(isKeptClaimOf(application(), claim({}, status))).toBe(false)
  expect(missingRecord(application(), claim({}, {}))).toBeUndefined()
})

test('what the status of the Application names is its own, and is recorded in the claim before the Application can be gone', () => {
  const inventory = [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'shop-pr-7-data' }]
  const named = { ...application(), status: { inventory } }
  expect(isKeptClaimOf(named, claim({}, {}))).toBe(true)
  expect(missingRecord(named, claim({ uid: 'c' }, {}))).toMatchObject({ metadata: { uid: 'c' }, status: kept('shop-pr-7') })
  expect(missingRecord(named, claim())).toBeUndefined()
  expect(missingRecord(named, claim({ annotations: { 'sekisho.dev/when-deleted': 'Delete' } }, {}))).toBeUndefined()
})
