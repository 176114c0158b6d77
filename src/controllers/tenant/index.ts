// Wires the Tenant controller: whatever it made wakes it when somebody changes or deletes it. Decides nothing.
import { labels } from '../../api/names.ts'
import { type KubeObject, keyText, type ObjectKey, type ResourceType } from '../../api/resource.ts'
import { tenant } from '../../api/tenant.ts'
import {
  configMaps,
  limitRanges,
  namespaces,
  networkPolicies,
  resourceQuotas,
  roleBindings,
  serviceAccounts,
} from '../../kube/builtin.ts'
import type { ControllerDefinition } from '../../kube/controller.ts'
import type { Manager } from '../../kube/manager.ts'
import type { Cache } from '../../kube/store.ts'
import { reconcileTenant, type TenantDeps } from './reconcile.ts'

export type TenantControllerDeps = Omit<TenantDeps, 'tenants' | 'namespaces' | 'live'> & {
  readonly manager: Pick<Manager, 'cache'>
}

/** Objects that tenants' namespaces are made of carry our label; others are not cached. */
const scope = { labelSelector: labels.tenant }
const owned: readonly ResourceType[] = [
  namespaces,
  roleBindings,
  resourceQuotas,
  limitRanges,
  networkPolicies,
  configMaps,
  serviceAccounts,
]

/** Call before the manager starts. */
export function createTenantController(deps: TenantControllerDeps): ControllerDefinition {
  const { manager } = deps
  const caches = new Map<string, Cache<KubeObject>>(owned.map(type => [type.kind, manager.cache(type, scope)]))
  const live = (type: ResourceType, key: ObjectKey): KubeObject | undefined => {
    const cache = caches.get(type.kind)
    if (cache === undefined) throw new Error(`no cache of ${type.kind} for ${keyText(key)}`)
    return cache.get(key)
  }
  const all: TenantDeps = { ...deps, live, tenants: manager.cache(tenant), namespaces: manager.cache(namespaces, scope) }
  return {
    name: 'tenant',
    for: tenant,
    owns: owned,
    ownsLabelSelector: scope.labelSelector,
    reconcile: context => reconcileTenant(all, context),
  }
}
