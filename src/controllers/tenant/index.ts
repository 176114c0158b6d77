// Wires the Tenant controller: a change of an object that it made wakes it, and a deleted namespace is recreated. Decides nothing.
import {
  configMaps,
  limitRanges,
  namespaces,
  networkPolicies,
  resourceQuotas,
  roleBindings,
  secrets,
  serviceAccounts,
} from '../../api/builtin/index.ts'
import { installation } from '../../api/github/installation.ts'
import { labels, registrySecrets } from '../../api/names.ts'
import { type KubeObject, keyOf, type ResourceType } from '../../api/resource.ts'
import { tenant, tenantConditions, tenantReasons } from '../../api/tenancy/tenant.ts'
import type { Cache, CacheScope } from '../../kube/cache/object-cache.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { controllingKey } from '../../kube/object/owner.ts'
import { enforcementConfigMap, recordedEnforcement } from '../../network-probe/enforcement.ts'
import { namespaceOfGivenSecret } from '../../registry/tenant-registry.ts'
import { createStatusWriter } from '../status-writer.ts'
import { tenantsByNamespace } from '../tenants-by-namespace.ts'
import { fieldManager, reconcileTenant, type TenantDeps } from './reconcile.ts'

export { networkSettings, registryPort, registryRange } from './network/network-settings.ts'
export type { NetworkSettings, TenantSettings } from './settings.ts'

export type TenantControllerDeps = Omit<
  TenantDeps,
  'tenants' | 'live' | 'status' | 'enforcement' | 'installationsIn' | 'teamCheckMilliseconds'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly platformNamespace: string
  readonly events: Pick<EventRecorder, 'record'>
  /** Default one hour; the broker's webhooks wake the controller much sooner. */
  readonly teamCheckMilliseconds?: number
}

/** The kinds whose changes wake a Tenant. Not the quotas: their status changes with every pod, and the resync finds changes of their spec. */
const watched: readonly ResourceType[] = [namespaces, roleBindings, limitRanges, serviceAccounts, networkPolicies, configMaps]
const made: readonly ResourceType[] = [...watched, resourceQuotas]

/** The platform may read Secrets of these two names only, so each is watched by its name. */
function secretScope(name: string): CacheScope {
  return { fieldSelector: `metadata.name=${name}` }
}

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createTenantController(deps: TenantControllerDeps): ControllerDefinition {
  const { manager, teamCheckMilliseconds = 3_600_000 } = deps
  const tenants = manager.cache(tenant)
  const installations = manager.cache(installation)
  const tenantsIn = tenantsByNamespace(tenants)
  const scope = { labelSelector: labels.tenant }
  const { client } = manager
  const status = createStatusWriter({
    type: tenant,
    fieldManager,
    client,
    cache: tenants,
    events: deps.events,
    eventsOn: ['Ready', tenantConditions.rolesResolved, tenantConditions.networkPoliciesEnforced],
    normalReasons: [tenantReasons.teamsNotChecked, tenantReasons.policiesNotProbed],
  })
  for (const type of made) manager.cache(type, scope)
  const platform = { namespace: deps.platformNamespace }
  const records = manager.cache(configMaps, platform)
  const isRecord = ({ metadata }: KubeObject): boolean => metadata.name === enforcementConfigMap
  const credentialScopes = [registrySecrets.build, registrySecrets.pull].map(secretScope)
  const credentialCaches = credentialScopes.map(secret => manager.cache(secrets, secret))
  const ownSecrets: Pick<Cache<KubeObject>, 'get' | 'list'> = {
    get: key => credentialCaches.map(cache => cache.get(key)).find(secret => secret !== undefined),
    list: namespace => credentialCaches.flatMap(cache => cache.list(namespace)),
  }
  return {
    name: 'tenant',
    for: tenant,
    owns: watched,
    ownsLabelSelector: labels.tenant,
    watches: [
      watches(installation, ({ metadata }) => tenantsIn(metadata.namespace ?? '').map(keyOf), {
        predicate: partChanged(({ status }) => [findCondition(status?.conditions, 'Ready')?.status, status?.permissions]),
      }),
      watches(configMaps, object => (isRecord(object) ? tenants.list().map(keyOf) : []), platform),
      ...credentialScopes.map(secret =>
        watches(
          secrets,
          item => {
            const key = controllingKey(item, tenant)
            return key === undefined ? [] : [key]
          },
          secret,
        ),
      ),
      watches(secrets, item => tenantsIn(namespaceOfGivenSecret(item.metadata.name) ?? '').map(keyOf), {
        namespace: deps.platformNamespace,
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
          enforcement: () => recordedEnforcement(records.get({ ...platform, name: enforcementConfigMap })),
          live: type => (type === secrets ? ownSecrets : manager.cache(type, scope)),
        },
        context,
      ),
  }
}
