// What the controllers of this process share: the manager, the servers, and which objects belong to which.
import { type ServiceBinding, serviceBinding } from '../api/services/service-binding.ts'
import { type ServiceInstance, serviceInstance } from '../api/services/service-instance.ts'
import type { Manager } from '../kube/manager.ts'
import type { EventRecorder } from '../kube/object/events.ts'
import type { Clock } from '../lib/clock.ts'
import { createServers, type Servers } from './servers.ts'
import { createUsage, type Usage } from './usage.ts'

export type GivenParts = {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
}

export type DataServicesParts = GivenParts & {
  readonly servers: Servers
  readonly usage: Usage
  /** The ServiceInstances of the class of this name. */
  readonly instancesOf: (serviceClass: string) => readonly ServiceInstance[]
  /** The ServiceBindings of the instance of this name. */
  readonly bindingsOf: (namespace: string, instance: string) => readonly ServiceBinding[]
}

const byClass = 'service-instance/class'
const byInstance = 'service-binding/instance'

/** Call before the manager starts. */
export function createParts(given: GivenParts): DataServicesParts {
  const instances = given.manager.cache(serviceInstance)
  const bindings = given.manager.cache(serviceBinding)
  instances.addIndex(byClass, ({ spec }) => [spec.class])
  bindings.addIndex(byInstance, ({ metadata, spec }) => [`${metadata.namespace}/${spec.service.name}`])
  const servers = createServers()
  const instancesOf = (serviceClass: string) => instances.byIndex(byClass, serviceClass)
  return {
    ...given,
    servers,
    usage: createUsage({ servers, instancesOf, clock: given.clock }),
    instancesOf,
    bindingsOf: (namespace, instance) => bindings.byIndex(byInstance, `${namespace}/${instance}`),
  }
}
