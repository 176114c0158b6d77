// The Tenants of a namespace, by one index that all readers of the cache share.
import type { Tenant } from '../api/tenancy/tenant.ts'
import type { Cache } from '../kube/cache/object-cache.ts'

export type TenantsByNamespace = (namespace: string) => readonly Tenant[]

const name = 'tenant/by-namespace'
const indexed = new WeakSet<object>()

/** Call before the manager starts. Adds the index at the first call for a cache. */
export function tenantsByNamespace(tenants: Pick<Cache<Tenant>, 'addIndex' | 'byIndex'>): TenantsByNamespace {
  if (!indexed.has(tenants)) tenants.addIndex(name, ({ spec }) => [spec.namespace])
  indexed.add(tenants)
  return namespace => tenants.byIndex(name, namespace)
}
