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
import { keyOf, type ResourceType } from '../../api/resource.ts'
import { tenant, tenantConditions, tenantReasons } from '../../api/tenancy/tenant.ts'
import type { CacheScope } from '../../kube/cache/object-cache.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { controllingKey } from '../../kube/object/owner.ts'
import { namespaceOfGivenSecret } from '../../registry/tenant-registry.ts'
import { createStatusWriter } from '../status-writer.ts'
import { fieldManager, reconcileTenant, type TenantDeps } from './reconcile.ts'

export type { EgressRule, TenantSettings } from './settings.ts'

export type TenantControllerDeps = Omit<
  TenantDeps,
  'tenants' | 'live' | 'status' | 'installationsIn' | 'teamCheckMilliseconds'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly platformNamespace: string
  readonly events: Pick<EventRecorder, 'record'>
  /** Default one hour; the broker's webhooks wake the controller much sooner. */
  readonly teamCheckMilliseconds?: number
}

const byNamespace = 'tenant/by-namespace'

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
  tenants.addIndex(byNamespace, ({ spec }) => [spec.namespace])
  const scope = { labelSelector: labels.tenant }
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
  for (const type of made) manager.cache(type, scope)
  const credentialScopes = [registrySecrets.build, registrySecrets.pull].map(secretScope)
  for (const secret of credentialScopes) manager.cache(secrets, secret)
  return {
    name: 'tenant',
    for: tenant,
    owns: watched,
    ownsLabelSelector: labels.tenant,
    watches: [
      watches(installation, ({ metadata }) => tenants.byIndex(byNamespace, metadata.namespace ?? '').map(keyOf), {
        predicate: partChanged(({ status }) => [findCondition(status?.conditions, 'Ready')?.status, status?.permissions]),
      }),
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
      watches(secrets, item => tenants.byIndex(byNamespace, namespaceOfGivenSecret(item.metadata.name) ?? '').map(keyOf), {
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
          live: type =>
            type === secrets ? { get: key => manager.cache(type, secretScope(key.name)).get(key) } : manager.cache(type, scope),
        },
        context,
      ),
  }
}
