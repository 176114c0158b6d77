// Wires the Tenant controller: a change of an object that it made wakes it, and a deleted namespace is recreated. Decides nothing.
import {
  configMaps,
  limitRanges,
  namespaces,
  networkPolicies,
  resourceQuotas,
  roleBindings,
  serviceAccounts,
} from '../../api/builtin/index.ts'
import { installation } from '../../api/github/installation.ts'
import { labels } from '../../api/names.ts'
import { type KubeObject, keyOf, type ObjectKey, type ResourceType } from '../../api/resource.ts'
import { tenant, tenantConditions, tenantReasons } from '../../api/tenancy/tenant.ts'
import type { CacheScope } from '../../kube/cache/object-cache.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import { createStatusWriter } from '../status-writer.ts'
import { authorityConfigMap, builderServiceAccount } from './desired.ts'
import { fieldManager, reconcileTenant, type TenantDeps } from './reconcile.ts'

export { builderServiceAccount } from './desired.ts'
export { networkSettings, registryPort, registryRange } from './network/network-settings.ts'
export type { NetworkSettings, TenantSettings } from './settings.ts'

export type TenantControllerDeps = Omit<
  TenantDeps,
  'tenants' | 'live' | 'status' | 'installationsIn' | 'teamCheckMilliseconds'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  /** Default one hour; the broker's webhooks wake the controller much sooner. */
  readonly teamCheckMilliseconds?: number
}

const byNamespace = 'tenant/by-namespace'

const labelled = { labelSelector: labels.tenant }
/** Tenants create objects of these kinds too, and could label as many as they like: only the one name that is ours is cached. */
const named: ReadonlyMap<ResourceType, CacheScope> = new Map<ResourceType, CacheScope>([
  [serviceAccounts, { ...labelled, fieldSelector: `metadata.name=${builderServiceAccount}` }],
  [configMaps, { ...labelled, fieldSelector: `metadata.name=${authorityConfigMap}` }],
])
/** The kinds whose changes wake a Tenant. Not the quotas: their status changes with every pod, and the resync finds changes of their spec. */
const owned: readonly ResourceType[] = [namespaces, roleBindings, limitRanges, networkPolicies]

/** The objects of a kind that a Tenant may have made. */
function scopeOf(type: ResourceType): CacheScope {
  return named.get(type) ?? labelled
}

/** The Tenant that controls an object. */
function tenantOf(object: KubeObject): readonly ObjectKey[] {
  const owner = controllerOf(object)
  return owner?.kind === tenant.kind && owner.apiVersion === tenant.apiVersion ? [{ name: owner.name }] : []
}

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createTenantController(deps: TenantControllerDeps): ControllerDefinition {
  const { manager, teamCheckMilliseconds = 3_600_000 } = deps
  const tenants = manager.cache(tenant)
  const installations = manager.cache(installation)
  tenants.addIndex(byNamespace, ({ spec }) => [spec.namespace])
  const { client } = manager
  const status = createStatusWriter({
    type: tenant,
    fieldManager,
    client,
    cache: tenants,
    events: deps.events,
    eventsOn: ['Ready', tenantConditions.rolesResolved],
    normalReasons: [tenantReasons.teamsNotChecked],
  })
  for (const type of [...owned, ...named.keys(), resourceQuotas]) manager.cache(type, scopeOf(type))
  return {
    name: 'tenant',
    for: tenant,
    owns: owned,
    ownsLabelSelector: labels.tenant,
    watches: [
      ...[...named].map(([type, scope]) => watches(type, tenantOf, scope)),
      watches(installation, ({ metadata }) => tenants.byIndex(byNamespace, metadata.namespace ?? '').map(keyOf), {
        predicate: partChanged(({ status }) => [findCondition(status?.conditions, 'Ready')?.status, status?.permissions]),
      }),
    ],
    reconcile: context =>
      reconcileTenant(
        {
          ...deps,
          tenants,
          status,
          teamCheckMilliseconds,
          installationsIn: namespace => installations.list(namespace),
          live: type => manager.cache(type, scopeOf(type)),
        },
        context,
      ),
  }
}
