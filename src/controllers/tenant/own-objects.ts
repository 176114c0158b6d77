// Which objects in tenants' namespaces the Tenant controller caches and watches. Tenants create objects of some of these kinds
// too, and could label as many as they like: of such a kind only the names that are ours are cached, so tenants do not decide
// how much memory they take.
import { authorityConfigMap } from '../../api/application-account.ts'
import {
  configMaps,
  limitRanges,
  namespaces,
  networkPolicies,
  resourceQuotas,
  roleBindings,
  serviceAccounts,
} from '../../api/builtin/index.ts'
import { builderServiceAccount } from '../../api/dockerfile-build.ts'
import { isolatedServiceAccount, labels } from '../../api/names.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import type { Cache, CacheScope } from '../../kube/cache/object-cache.ts'
import { type Watch, watches } from '../../kube/controller/controller.ts'
import type { Manager } from '../../kube/manager.ts'
import { controllingKey } from '../../kube/object/owner.ts'
import { defaultServiceAccount } from './desired.ts'
import { scriptsConfigMap } from './workload-scripts/workload-scripts.ts'

type ReadOnly = Pick<Cache<KubeObject>, 'get' | 'list'>

export type OwnObjects = {
  /** The cached objects of a kind. */
  readonly live: (type: ResourceType) => ReadOnly
  /** Wake the Tenant that controls a changed object of a kind that is cached by name. */
  readonly watches: readonly Watch[]
}

const labelled = { labelSelector: labels.tenant }

/** The kinds whose changes wake a Tenant, all objects with our label: no role of a tenant creates them. */
export const ownedKinds: readonly ResourceType[] = [namespaces, roleBindings, limitRanges, networkPolicies]

/** Not watched: the status of a quota changes with every pod, and the resync finds changes of its spec. */
const unwatched: readonly ResourceType[] = [resourceQuotas]

/**
 * The platform may read objects of these names only, so each name is selected by itself. Secrets are not cached: each is read
 * in its namespace.
 */
const names: ReadonlyMap<ResourceType, readonly string[]> = new Map<ResourceType, readonly string[]>([
  [serviceAccounts, [builderServiceAccount, defaultServiceAccount, isolatedServiceAccount]],
  [configMaps, [authorityConfigMap, scriptsConfigMap]],
])

function scopeOf(name: string): CacheScope {
  return { fieldSelector: `metadata.name=${name}` }
}

/** Call before the manager starts: it adds caches. */
export function createOwnObjects(manager: Pick<Manager, 'cache'>): OwnObjects {
  const byType = new Map<ResourceType, ReadOnly>()
  for (const type of [...ownedKinds, ...unwatched]) byType.set(type, manager.cache(type, labelled))
  for (const [type, own] of names) {
    const caches = new Map(own.map(name => [name, manager.cache(type, scopeOf(name))]))
    byType.set(type, {
      get: key => caches.get(key.name)?.get(key),
      list: namespace => [...caches.values()].flatMap(cache => cache.list(namespace)),
    })
  }
  return {
    live(type) {
      const found = byType.get(type)
      if (found === undefined) throw new Error(`objects of kind ${type.kind} are not cached`)
      return found
    },
    watches: [...names].flatMap(([type, own]) => own.map(name => watches(type, tenantsOf, scopeOf(name)))),
  }
}

/** The Tenant that controls an object. */
function tenantsOf(object: KubeObject) {
  const key = controllingKey(object, tenant)
  return key === undefined ? [] : [key]
}
