// Reads the services of a tenant from the API server when somebody looks at them: a bounded number. The broker keeps none of
// them, and reads no credential. Whether the person may see them is decided before, by the caller.
import { keptObject } from '../../api/kept-object.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { type Bucket, bucket } from '../../api/services/bucket.ts'
import { type ServiceInstance, serviceInstance } from '../../api/services/service-instance.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { type Bounded, bounded } from './bounded.ts'

/** Of each kind. */
const maxServices = 100

/** By name. People who look at the same time share the answer. */
export type ServiceReader = {
  readonly instances: (namespace: string) => Promise<Bounded<ServiceInstance>>
  readonly buckets: (namespace: string) => Promise<Bounded<Bucket>>
}

/** Its methods reject with KubeError. */
export function createServiceReader(kube: Pick<KubeClient, 'snapshot'>): ServiceReader {
  return { instances: lists(kube, serviceInstance), buckets: lists(kube, bucket) }
}

// Memory (lists of services in progress): namespace → the list of a kind that people who look at the same time share
//   life: until it settles
//   bound: requests in progress
//   freshness: its end
//   replicas: each reads
function lists<T extends KubeObject>(kube: Pick<KubeClient, 'snapshot'>, type: ResourceType<T>) {
  const flights = new SingleFlight<Bounded<T>>()
  return (namespace: string): Promise<Bounded<T>> =>
    flights.run(namespace, async () => {
      const { items } = await kube.snapshot(type, { namespace, keep: keptObject<T>, most: maxServices + 1 })
      return bounded(items, maxServices)
    })
}
