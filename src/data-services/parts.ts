// What the controllers of this process share: the manager, the servers, and which objects belong to which.
import type { KubeObject } from '../api/resource.ts'
import { type Bucket, bucket } from '../api/services/bucket.ts'
import { type BoundKind, type ServiceBinding, serviceBinding } from '../api/services/service-binding.ts'
import { type ServiceInstance, serviceInstance } from '../api/services/service-instance.ts'
import type { Manager } from '../kube/manager.ts'
import type { EventRecorder } from '../kube/object/events.ts'
import type { Clock } from '../lib/clock.ts'
import { type BucketUsage, createBucketUsage } from './bucket-usage.ts'
import { type ClosedLogins, createClosedLogins } from './lock-guard.ts'
import { createLooks, type Looks } from './looks/looks.ts'
import type { StatementCounter } from './metrics.ts'
import { createServers, type Servers } from './servers.ts'

export type GivenParts = {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
  readonly countStatements?: StatementCounter
}

export type DataServicesParts = GivenParts & {
  readonly servers: Servers
  readonly looks: Looks
  readonly closedLogins: ClosedLogins
  readonly bucketUsage: BucketUsage
  /** The ServiceInstances of the class of this name. */
  readonly instancesOf: (serviceClass: string) => readonly ServiceInstance[]
  /** The Buckets of the class of this name. */
  readonly bucketsOf: (serviceClass: string) => readonly Bucket[]
  /** The ServiceBindings of a service. */
  readonly bindingsOf: (kind: BoundKind, service: Pick<KubeObject, 'metadata'>) => readonly ServiceBinding[]
}

const byClass = 'service/class'
const byService = 'service-binding/service'

/** Call before the manager starts. */
export function createParts(given: GivenParts): DataServicesParts {
  const instances = given.manager.cache(serviceInstance)
  const buckets = given.manager.cache(bucket)
  const bindings = given.manager.cache(serviceBinding)
  instances.addIndex(byClass, ({ spec }) => [spec.class])
  buckets.addIndex(byClass, ({ spec }) => [spec.class])
  bindings.addIndex(byService, ({ metadata, spec: { service } }) => [`${service.kind}/${metadata.namespace}/${service.name}`])
  const servers = createServers(given.countStatements)
  const instancesOf = (serviceClass: string) => instances.byIndex(byClass, serviceClass)
  return {
    ...given,
    servers,
    looks: createLooks({ servers, instancesOf, clock: given.clock }),
    closedLogins: createClosedLogins(),
    bucketUsage: createBucketUsage({ servers, clock: given.clock }),
    instancesOf,
    bucketsOf: serviceClass => buckets.byIndex(byClass, serviceClass),
    bindingsOf: (kind, { metadata }) => bindings.byIndex(byService, `${kind}/${metadata.namespace}/${metadata.name}`),
  }
}
