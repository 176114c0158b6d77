// A right that the platform lost: the Tenant says so, and the write is repeated. The API server is a record of calls that refuses RoleBindings.
import { expect, test } from 'vitest'
import { testNetwork } from '../../../test/fixtures/network.ts'
import type { Condition, KubeObject } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { reconcileTenant } from './reconcile.ts'

const now = new Date('2026-03-03T10:00:00Z')
const refusal =
  'rolebindings "sekisho:broker" is forbidden: User "system:serviceaccount:s:c" cannot patch resource "rolebindings"'

function tenantSince(readySince: string): Tenant {
  const ready: Condition = {
    type: 'Ready',
    status: 'True',
    reason: 'NamespacesReady',
    observedGeneration: 1,
    message: '',
    lastTransitionTime: readySince,
  }
  return {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: 'acme', uid: 'u', generation: 1, finalizers: ['sekisho.dev/tenant'], creationTimestamp: readySince },
    spec: {
      account: { host: 'github.localhost', id: 2001, login: 'acme', type: 'Organization' },
      namespace: 'acme',
      roles: [],
      limits: { concurrentBuilds: 2, tokensPerHour: 600, applications: 7 },
    },
    status: { conditions: [ready] },
  } as Tenant
}

/** Resolves to the conditions that were written after a reconcile whose writes of RoleBindings fail with this error. */
async function conditionsAfter(tenant: Tenant, error: Error): Promise<readonly Condition[] | undefined> {
  const owner = { apiVersion: tenant.apiVersion, kind: 'Tenant', name: 'acme', uid: 'u', controller: true }
  const refuse = (): Promise<never> => Promise.reject(error)
  let written: Tenant['status']
  const deps = {
    client: {
      get: async (_type: unknown, { name }: { name: string }) => ({
        kind: 'Namespace',
        metadata: { name, ownerReferences: [owner] },
      }),
      apply: refuse,
      mergePatch: refuse,
    },
    tenants: { get: () => tenant },
    live: () => ({ get: () => undefined, list: (): readonly KubeObject[] => [] }),
    settings: {
      network: testNetwork,
      certificateAuthorities: () => 'PEM',
      accounts: { broker: 'b', controllers: 'c' },
      buildsDockerfiles: false,
    },
    enforcement: () => ({ egress: 'Enforced', ingress: 'Enforced' }),
    clock: { now: () => now },
    status: {
      latest: (cached: Tenant) => cached,
      write: async (_tenant: Tenant, status: Tenant['status']) => {
        written = status
      },
    },
  }
  await expect(reconcileTenant(deps as never, { key: { name: 'acme' } })).rejects.toBe(error)
  return written?.conditions
}

const forbidden = new KubeError(`apply RoleBinding acme/sekisho:broker: 403 Forbidden: ${refusal}`, {
  status: 403,
  reason: 'Forbidden',
})

test('a Tenant whose roles cannot be written says which right is missing, and is tried again', async () => {
  const conditions = await conditionsAfter(tenantSince('2026-03-03T09:00:00Z'), forbidden)
  const ready = findCondition(conditions, 'Ready')
  expect(ready).toMatchObject({ status: 'False', reason: 'RightMissing' })
  expect(ready?.message).toContain('cannot patch resource "rolebindings"')
})

test('rights that were given a moment ago, and other errors, are tried again without a word', async () => {
  expect(await conditionsAfter(tenantSince('2026-03-03T09:59:50Z'), forbidden)).toBeUndefined()
  const broken = new KubeError('apply RoleBinding acme/x: 500 InternalError', { status: 500, reason: 'InternalError' })
  expect(await conditionsAfter(tenantSince('2026-03-03T09:00:00Z'), broken)).toBeUndefined()
})
