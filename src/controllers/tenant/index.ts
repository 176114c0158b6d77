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
import { keyOf, type ResourceType } from '../../api/resource.ts'
import { tenant, tenantConditions, tenantReasons } from '../../api/tenancy/tenant.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { createHourlyBudget } from '../../lib/hourly-budget.ts'
import { createStatusWriter } from '../status-writer.ts'
import { fieldManager, reconcileTenant, type TenantDeps } from './reconcile.ts'

export { builderServiceAccount } from './desired.ts'
export type { EgressRule, TenantSettings } from './settings.ts'

export type TenantControllerDeps = Omit<
  TenantDeps,
  'tenants' | 'live' | 'status' | 'installationsIn' | 'teamCheckMilliseconds' | 'teamChecks'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  /** Default one day; the broker's webhooks wake the controller much sooner. */
  readonly teamCheckMilliseconds?: number
}

const byNamespace = 'tenant/by-namespace'
/** Of the 5,000 requests an hour that an App has, for checks that may wait. */
const teamChecksPerHour = 200

/** The kinds whose changes wake a Tenant. Not the quotas: their status changes with every pod, and the resync finds changes of their spec. */
const watched: readonly ResourceType[] = [namespaces, roleBindings, limitRanges, serviceAccounts, networkPolicies, configMaps]
const made: readonly ResourceType[] = [...watched, resourceQuotas]

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createTenantController(deps: TenantControllerDeps): ControllerDefinition {
  const { manager, teamCheckMilliseconds = 86_400_000 } = deps
  const tenants = manager.cache(tenant)
  const installations = manager.cache(installation)
  tenants.addIndex(byNamespace, ({ spec }) => [spec.namespace])
  const scope = { labelSelector: labels.tenant }
  const { client } = manager
  const teamChecks = createHourlyBudget({ perHour: teamChecksPerHour, clock: deps.clock })
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
  return {
    name: 'tenant',
    for: tenant,
    owns: watched,
    ownsLabelSelector: labels.tenant,
    watches: [
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
          teamChecks,
          installationsIn: namespace => installations.list(namespace),
          live: type => manager.cache(type, scope),
        },
        context,
      ),
  }
}
