// Whose content a volume has.
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { isKeptClaimOf } from './volume-claim-rules.ts'

const application = (metadata: object = {}): Application =>
  ({ metadata: { name: 'shop-pr-7', namespace: 'acme', uid: 'u', ...metadata }, spec: { chart: 'web' } }) as Application
const claim = (metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name: 'shop-pr-7-data',
    labels: { 'sekisho.dev/application': 'shop-pr-7' },
    annotations: { 'sekisho.dev/when-deleted': 'Keep' },
    ...metadata,
  },
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
