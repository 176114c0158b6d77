// Wires the controller of ServiceClasses. Decides nothing.
import { bucket } from '../../api/services/bucket.ts'
import { serviceClass } from '../../api/services/service-class.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import { createStatusWriter } from '../../controllers/kit/status-writer.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import type { DataServicesParts } from '../parts.ts'
import { fieldManager, reconcileServiceClass } from './reconcile.ts'

/** Call before the manager starts: caches cannot be added later. */
export function createServiceClassController(parts: DataServicesParts): ControllerDefinition {
  const { manager, events, clock, servers, looks, instancesOf, bucketsOf } = parts
  const { client } = manager
  const cache = manager.cache(serviceClass)
  const status = createStatusWriter({ type: serviceClass, fieldManager, client, cache, events })
  const servicesOf = (name: string) => [...instancesOf(name), ...bucketsOf(name)]
  return {
    name: 'service-class',
    for: serviceClass,
    // The last service of a class that is being deleted ends it.
    watches: [
      watches(serviceInstance, ({ spec }) => [{ name: spec.class }], { predicate: ({ new: present }) => present === undefined }),
      watches(bucket, ({ spec }) => [{ name: spec.class }], { predicate: ({ new: present }) => present === undefined }),
    ],
    reconcile: context => reconcileServiceClass({ cache, servicesOf, client, status, servers, looks, clock }, context),
  }
}
