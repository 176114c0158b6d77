// The controllers of both kinds with real caches: what they write of the grants, written once, and counted again.
import { expect, test } from 'vitest'
import { clusterGrantPolicy, type GrantPolicy, grantPolicy } from '../../api/github/grant-policy.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import type { KindDefinition } from '../../api/kind.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { createObjectCache, type ObjectCache } from '../../kube/cache/object-cache.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { grantObject } from '../../services/token-desk/testing/desk-objects.ts'
import { createClusterGrantPolicyController, createGrantPolicyController } from './index.ts'

function platform() {
  const caches = new Map<string, ObjectCache<KubeObject>>()
  const cache = (type: ResourceType): ObjectCache<KubeObject> => {
    const found = caches.get(type.kind) ?? createObjectCache<KubeObject>()
    caches.set(type.kind, found)
    return found
  }
  const written: (GrantPolicy['status'] | undefined)[] = []
  const client = {
    async applyStatus(type: ResourceType, object: GrantPolicy) {
      written.push(object.status)
      const stored = cache(type).get(object.metadata)
      const resourceVersion = String(1 + written.length)
      const stands = { ...stored, ...object, metadata: { ...stored?.metadata, ...object.metadata, resourceVersion } }
      cache(type).upsert(stands)
      return stands
    },
  }
  const deps = { manager: { cache, client }, events: { record: () => {} }, clock: createFakeClock() } as never
  const definitions = [createGrantPolicyController(deps), createClusterGrantPolicyController(deps)] as const
  const reconcile = (kind: KindDefinition<GrantPolicy>, namespace: object) =>
    definitions
      .find(definition => definition.for === kind)
      ?.reconcile({
        key: { name: 'rules', ...namespace },
        log: silentLog,
        signal: new AbortController().signal,
        reconcileId: 'r',
      })
  return { cache, written, reconcile }
}

test.each([
  ['a GrantPolicy', grantPolicy, { namespace: 'acme' }],
  ['a ClusterGrantPolicy', clusterGrantPolicy, {}],
] as const)('%s is written once for what was counted, and counted again', async (_what, kind, namespace) => {
  const { cache, written, reconcile } = platform()
  cache(tenant).replace([{ ...tenant, metadata: { name: 'acme', uid: 't' }, spec: { namespace: 'acme' } } as KubeObject])
  const rules = [{ name: 'one', effect: 'Deny', permissions: { contents: 'read' } }]
  const metadata = { name: 'rules', uid: 'p', generation: 1, resourceVersion: '1', ...namespace }
  const { apiVersion, kind: named } = kind
  cache(kind).replace([{ apiVersion, kind: named, metadata, spec: { mode: 'Enforce', rules } } as KubeObject])
  const denied = (name: string): RepositoryGrant =>
    grantObject({ name, status: { decision: 'Denied', rule: `${named}/rules/one`, expiresAt: '2027-01-01T00:00:00Z' } })
  cache(repositoryGrant).replace([denied('a')])

  const again = { kind: 'requeue', requeueAfterMilliseconds: 60_000 }
  expect(await reconcile(kind, namespace)).toEqual(again)
  expect(await reconcile(kind, namespace)).toEqual(again)
  const ofOne = { approved: 0, waiting: 0, denied: 1 }
  expect(written.map(status => status?.grants)).toEqual([{ ...ofOne, rules: [{ name: 'one', ...ofOne }] }])

  cache(repositoryGrant).replace([denied('a'), denied('b')])
  await reconcile(kind, namespace)
  await reconcile(kind, namespace)
  expect(written.slice(1).map(status => status?.grants?.denied)).toEqual([2])

  cache(kind).replace([])
  expect(await reconcile(kind, namespace)).toEqual({ kind: 'done' })
})
