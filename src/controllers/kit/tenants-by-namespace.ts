// The Tenants of a namespace, by one index that all readers of the cache share.
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'

export type TenantsByNamespace = (namespace: string) => readonly Tenant[]

const name = 'tenant/by-namespace'
const namespaceOf = ({ spec }: Tenant): readonly string[] => [spec.namespace]

/** Call before the manager starts. */
export function tenantsByNamespace(tenants: Pick<Cache<Tenant>, 'addIndex' | 'byIndex'>): TenantsByNamespace {
  tenants.addIndex(name, namespaceOf)
  return namespace => tenants.byIndex(name, namespace)
}
