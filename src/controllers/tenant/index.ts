// Wires the Tenant controller: a change to anything it made wakes it, and a namespace that goes away is made anew.
import { labels } from '../../api/names.ts'
import type { ResourceType } from '../../api/resource.ts'
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
import type { EventRecorder } from '../../kube/events.ts'
import type { Manager } from '../../kube/manager.ts'
import { createStatusWriter } from '../status-writer.ts'
import { fieldManager, reconcileTenant, type TenantDeps } from './reconcile.ts'

export { builderServiceAccount } from './desired.ts'
export type { EgressRule, TenantSettings } from './settings.ts'

export type TenantControllerDeps = Omit<TenantDeps, 'tenants' | 'live' | 'status'> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
}

/** Not the quotas: their status changes with every pod, and the resync finds what an administrator changed in them. */
const wakers: readonly ResourceType[] = [namespaces, roleBindings, limitRanges, serviceAccounts, networkPolicies, configMaps]
const made: readonly ResourceType[] = [...wakers, resourceQuotas]

export function createTenantController(deps: TenantControllerDeps): ControllerDefinition {
  const { manager } = deps
  const tenants = manager.cache(tenant)
  const scope = { labelSelector: labels.tenant }
  const { client } = manager
  const status = createStatusWriter({ type: tenant, fieldManager, client, cache: tenants, events: deps.events })
  for (const type of made) manager.cache(type, scope)
  return {
    name: 'tenant',
    for: tenant,
    owns: wakers,
    ownsLabelSelector: labels.tenant,
    reconcile: context => reconcileTenant({ ...deps, tenants, status, live: type => manager.cache(type, scope) }, context),
  }
}
