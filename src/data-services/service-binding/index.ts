// Wires the controller of ServiceBindings. Decides nothing. Secrets are not watched, because nobody may list them: one that was
// deleted is found within ten minutes.
import { type KubeObject, keyOf } from '../../api/resource.ts'
import { bucket } from '../../api/services/bucket.ts'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { serviceClass } from '../../api/services/service-class.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import { createStatusWriter } from '../../controllers/kit/status-writer.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { slotNames } from '../credentials/credentials.ts'
import { principalOf } from '../credentials/principal.ts'
import type { DataServicesParts } from '../parts.ts'
import { hasLostLogin } from './decide.ts'
import { fieldManager } from './issue.ts'
import { reconcileServiceBinding } from './reconcile.ts'

const byLogin = 'service-binding/login'

/** Call before the manager starts: caches cannot be added later. */
export function createServiceBindingController(parts: DataServicesParts): ControllerDefinition {
  const { manager, events, clock, servers, looks, closedLogins, instancesOf, bucketsOf, bindingsOf } = parts
  const { client } = manager
  const cache = manager.cache(serviceBinding)
  cache.addIndex(byLogin, binding => slotNames.map(slot => principalOf(binding, slot)))
  const instances = manager.cache(serviceInstance)
  const buckets = manager.cache(bucket)
  const classes = manager.cache(serviceClass)
  const status = createStatusWriter({ type: serviceBinding, fieldManager, client, cache, events, eventsOn: ['Proven', 'Ready'] })
  const ofInstance = (instance: KubeObject) => bindingsOf('ServiceInstance', instance).map(keyOf)
  const ofBucket = (object: KubeObject) => bindingsOf('Bucket', object).map(keyOf)
  const deps = { cache, instances, buckets, classes, client, status, servers, looks, clock }
  return {
    name: 'service-binding',
    for: serviceBinding,
    watches: [
      watches(serviceInstance, ofInstance),
      watches(bucket, ofBucket),
      watches(serviceClass, ({ metadata: { name } }) => [
        ...instancesOf(name).flatMap(ofInstance),
        ...bucketsOf(name).flatMap(ofBucket),
      ]),
      {
        attach: (_, enqueue) => {
          looks.onLook((name, seen) => {
            const bindings = instancesOf(name).flatMap(instance => bindingsOf('ServiceInstance', instance))
            for (const binding of bindings) if (hasLostLogin(seen, binding)) enqueue(keyOf(binding), { initial: false })
          })
          closedLogins.onClosed(login => {
            for (const binding of cache.byIndex(byLogin, login)) enqueue(keyOf(binding), { initial: false })
          })
        },
      },
    ],
    reconcile: context => reconcileServiceBinding(deps, context),
  }
}
