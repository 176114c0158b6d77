// Reads everything a RemoteSync's reconcile must know, from caches only, into one value. Never writes, never throws on absence.
import type { Application } from '../../api/apps/application.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { ObjectKey } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { grantName } from './grant.ts'

export type RemoteSyncCaches = {
  readonly remoteSyncs: Cache<RemoteSync>
  readonly applications: Cache<Application>
  readonly installations: Cache<Installation>
  readonly grants: Cache<RepositoryGrant>
  readonly tenants: Cache<Tenant>
}

export const targetIndex = 'remoteSyncTarget'
export const installationIndex = 'remoteSyncInstallation'
const namespaceIndex = 'remoteSyncTenantNamespace'

export function namespaced(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`
}

/** Once, before the caches start. */
export function addRemoteSyncIndexes(caches: RemoteSyncCaches): void {
  const { remoteSyncs, tenants } = caches
  remoteSyncs.addIndex(targetIndex, item => [namespaced(item.metadata.namespace, item.spec.application)])
  remoteSyncs.addIndex(installationIndex, item => [namespaced(item.metadata.namespace, item.spec.installation)])
  tenants.addIndex(namespaceIndex, tenant => [tenant.spec.namespace])
}

export type Facts = {
  readonly remoteSync: RemoteSync
  readonly tenant: Tenant | undefined
  readonly installation: Installation | undefined
  readonly grant: RepositoryGrant | undefined
  readonly application: Application | undefined
  /** Other RemoteSyncs that lead to the same Application. */
  readonly rivals: readonly RemoteSync[]
}

/** `latest` gives our own last write of an object where the cache is behind it. */
export function gather(caches: RemoteSyncCaches, key: ObjectKey, latest: (cached: RemoteSync) => RemoteSync): Facts | undefined {
  const cached = caches.remoteSyncs.get(key)
  if (!cached) return undefined
  const remoteSync = latest(cached)
  const { namespace = '', uid } = remoteSync.metadata
  const { spec } = remoteSync
  return {
    remoteSync,
    tenant: caches.tenants.byIndex(namespaceIndex, namespace)[0],
    installation: caches.installations.get({ namespace, name: spec.installation }),
    grant: caches.grants.get({ namespace, name: grantName(remoteSync) }),
    application: caches.applications.get({ namespace, name: spec.application }),
    rivals: caches.remoteSyncs
      .byIndex(targetIndex, namespaced(namespace, spec.application))
      .filter(other => other.metadata.uid !== uid),
  }
}

/** The most builds a tenant may run, by build namespace. */
export function tenantBuildLimit(caches: RemoteSyncCaches, buildNamespace: string): number {
  const tenant = caches.tenants.list().find(item => item.status?.buildNamespace === buildNamespace)
  return tenant?.spec.limits?.concurrentBuilds ?? 2
}
