// Wires the Tenant controller: a change of an object that it made wakes it, and a deleted namespace is recreated. Decides
// nothing.
import { configMaps, namespaces, runtimeClasses } from '../../api/builtin/index.ts'
import { installation } from '../../api/github/installation.ts'
import { labels } from '../../api/names.ts'
import { keyOf } from '../../api/resource.ts'
import { type Tenant, tenant, tenantConditions } from '../../api/tenancy/tenant.ts'
import { wallRecord } from '../../api/wall-names.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import { evenlyPerHour } from '../../lib/limits/token-bucket.ts'
import { enforcementConfigMap, recordedEnforcement } from '../../services/network-probe/enforcement.ts'
import { recordedWalls } from '../../services/wall-probe/record.ts'
import { createInStep } from '../kit/in-step.ts'
import { reportInStatus, withMissingRights } from '../kit/missing-right.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { tenantsByNamespace } from '../kit/tenants-by-namespace.ts'
import { fieldManager } from './desired.ts'
import { accessFields } from './github-access.ts'
import { createOwnObjects, ownedKinds } from './own-objects.ts'
import { reconcileTenant, type TenantDeps } from './reconcile.ts'
import { chosenClasses, classNames } from './runtime/choose-classes.ts'
import { createUserRanges } from './users/user-ranges.ts'
import { saysOtherwise } from './walls/walls-condition.ts'

export { metadataRanges, networkSettings, registryPort, registryRange } from './network/network-settings.ts'
export { runtimeSettings } from './runtime/runtime-settings.ts'
export type { NetworkSettings, TenantSettings } from './settings.ts'

export type TenantControllerDeps = Omit<
  TenantDeps,
  | 'tenants'
  | 'live'
  | 'classes'
  | 'status'
  | 'userRanges'
  | 'enforcement'
  | 'walls'
  | 'installationsIn'
  | 'teamCheckMilliseconds'
  | 'teamChecks'
  | 'inStep'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly platformNamespace: string
  readonly events: Pick<EventRecorder, 'record'>
  /** Default one day; the broker's webhooks wake the controller much sooner. */
  readonly teamCheckMilliseconds?: number
}

/** Of the 5,000 requests an hour that an App has, for checks that may wait. */
const teamChecksPerHour = 200

// Memory (hourly share of team checks): App → token bucket of 200 checks an hour
//   life: the process
//   bound: 10,000 Apps
//   freshness: none is needed: buckets refill by time
//   replicas: leader only; the next begins with a full one
/** Call before the manager starts: caches and indexes cannot be added later. */
export function createTenantController(deps: TenantControllerDeps): ControllerDefinition {
  const { manager, teamCheckMilliseconds = 86_400_000 } = deps
  const tenants = manager.cache(tenant)
  const installations = manager.cache(installation)
  const tenantsIn = tenantsByNamespace(tenants)
  const { client } = manager
  const teamChecks = createKeyedBuckets(evenlyPerHour(teamChecksPerHour), deps.clock)
  const status = createStatusWriter({
    type: tenant,
    fieldManager,
    client,
    cache: tenants,
    events: deps.events,
    eventsOn: ['Ready', tenantConditions.rolesResolved, tenantConditions.gitHubAccess, tenantConditions.networkPoliciesEnforced],
  })
  const own = createOwnObjects(manager)
  const { platformNamespace } = deps
  const userRanges = createUserRanges({ client, platformNamespace, namespaces: own.live(namespaces) })
  const platform = { namespace: platformNamespace }
  const classes = manager.cache(runtimeClasses)
  const uses = (name: string) => (one: Tenant) =>
    Object.values(classNames(chosenClasses(one, deps.settings.runtimeClasses))).includes(name)
  const records = manager.cache(configMaps, platform)
  const walls = () => recordedWalls(records.get(wallRecord))
  /** Those whose conditions are made from the ConfigMap. The record of the walls changes often, and mostly about few. */
  const concernedBy = (name: string): readonly Tenant[] => {
    if (name === enforcementConfigMap) return tenants.list()
    if (name !== wallRecord.name) return []
    const recorded = walls()
    return tenants.list().filter(one => saysOtherwise(one, recorded))
  }
  const inStep = createInStep()
  const definition: ControllerDefinition = {
    name: 'tenant',
    for: tenant,
    owns: ownedKinds,
    ownsLabelSelector: labels.tenant,
    watches: [
      ...own.watches,
      watches(installation, ({ metadata }) => tenantsIn(metadata.namespace ?? '').map(keyOf), {
        predicate: partChanged(one => [accessFields(one), one.status?.permissions]),
      }),
      watches(runtimeClasses, ({ metadata }) => tenants.list().filter(uses(metadata.name)).map(keyOf)),
      watches(configMaps, ({ metadata }) => concernedBy(metadata.name).map(keyOf), platform),
      // One that said what an earlier record has, when the next came.
      watches(tenant, one => (saysOtherwise(one, walls()) ? [keyOf(one)] : [])),
    ],
    reconcile: context =>
      reconcileTenant(
        {
          ...deps,
          tenants,
          classes,
          status,
          userRanges,
          teamCheckMilliseconds,
          teamChecks,
          inStep,
          installationsIn: namespace => installations.list(namespace),
          enforcement: () => recordedEnforcement(records.get({ ...platform, name: enforcementConfigMap })),
          walls,
          live: own.live,
        },
        context,
      ),
  }
  return withMissingRights(definition, { cache: tenants, says: reportInStatus(status, deps.clock), clock: deps.clock })
}
