// Wires the controller of ServiceBindings. Decides nothing. Secrets are not watched, because nobody may list them: one that was
// deleted is found within ten minutes.
import { keyOf } from '../../api/resource.ts'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { serviceClass } from '../../api/services/service-class.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import { createStatusWriter } from '../../controllers/kit/status-writer.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import type { DataServicesParts } from '../parts.ts'
import { fieldManager } from './issue.ts'
import { reconcileServiceBinding } from './reconcile.ts'

/** Call before the manager starts: caches cannot be added later. */
export function createServiceBindingController(parts: DataServicesParts): ControllerDefinition {
  const { manager, events, clock, servers, instancesOf, bindingsOf } = parts
  const { client } = manager
  const cache = manager.cache(serviceBinding)
  const instances = manager.cache(serviceInstance)
  const classes = manager.cache(serviceClass)
  const status = createStatusWriter({ type: serviceBinding, fieldManager, client, cache, events, eventsOn: ['Proven', 'Ready'] })
  const keysOf = ({
    metadata: { namespace = '', name },
  }: {
    readonly metadata: { readonly namespace?: string; readonly name: string }
  }) => bindingsOf(namespace, name).map(keyOf)
  return {
    name: 'service-binding',
    for: serviceBinding,
    watches: [
      watches(serviceInstance, keysOf),
      watches(serviceClass, ({ metadata }) => instancesOf(metadata.name).flatMap(keysOf)),
    ],
    reconcile: context => reconcileServiceBinding({ cache, instances, classes, client, status, servers, clock }, context),
  }
}
