// Wires the controller of ServiceInstances. Decides nothing.

import { keyOf } from '../../api/resource.ts'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { serviceClass } from '../../api/services/service-class.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { createStatusWriter } from '../../controllers/kit/status-writer.ts'
import { tenantsByNamespace } from '../../controllers/kit/tenants-by-namespace.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import type { DataServicesParts } from '../parts.ts'
import { fieldManager, reconcileServiceInstance } from './reconcile.ts'

const byNamespace = 'service-instance/namespace'

/** Call before the manager starts: caches cannot be added later. */
export function createServiceInstanceController(parts: DataServicesParts): ControllerDefinition {
  const { manager, events, clock, servers, looks, instancesOf, bindingsOf } = parts
  const { client } = manager
  const cache = manager.cache(serviceInstance)
  cache.addIndex(byNamespace, ({ metadata }) => [metadata.namespace ?? ''])
  const eventsOn = ['WithinPlan', 'Ready']
  const status = createStatusWriter({ type: serviceInstance, fieldManager, client, cache, events, eventsOn })
  const classes = manager.cache(serviceClass)
  const tenantsOf = tenantsByNamespace(manager.cache(tenant))
  const deps = { cache, classes, tenantsOf, bindingsOf, client, status, servers, looks, clock }
  return {
    name: 'service-instance',
    for: serviceInstance,
    watches: [
      watches(serviceClass, ({ metadata }) => instancesOf(metadata.name).map(keyOf)),
      watches(tenant, ({ spec }) => cache.byIndex(byNamespace, spec.namespace).map(keyOf)),
      // The last ServiceBinding of an instance that is being deleted ends it.
      watches(
        serviceBinding,
        ({ metadata: { namespace = '' }, spec: { service } }) =>
          service.kind === 'ServiceInstance' ? [{ namespace, name: service.name }] : [],
        { predicate: ({ new: present }) => present === undefined },
      ),
    ],
    reconcile: context => reconcileServiceInstance(deps, context),
  }
}
