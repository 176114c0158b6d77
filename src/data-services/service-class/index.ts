// Wires the controller of ServiceClasses. Decides nothing.
import { serviceClass } from '../../api/services/service-class.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import { createStatusWriter } from '../../controllers/kit/status-writer.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import type { DataServicesParts } from '../parts.ts'
import { fieldManager, reconcileServiceClass } from './reconcile.ts'

/** Call before the manager starts: caches cannot be added later. */
export function createServiceClassController(parts: DataServicesParts): ControllerDefinition {
  const { manager, events, clock, servers, instancesOf } = parts
  const { client } = manager
  const cache = manager.cache(serviceClass)
  const status = createStatusWriter({ type: serviceClass, fieldManager, client, cache, events })
  return {
    name: 'service-class',
    for: serviceClass,
    // The last instance of a class that is being deleted ends it.
    watches: [
      watches(serviceInstance, ({ spec }) => [{ name: spec.class }], { predicate: ({ new: present }) => present === undefined }),
    ],
    reconcile: context => reconcileServiceClass({ cache, instancesOf, client, status, servers, clock }, context),
  }
}
