// Reads the services of a tenant from the API server when somebody looks at them: a bounded number. The broker keeps none of
// them, and reads no credential. Whether the person may see them is decided before, by the caller.
import { keptObject } from '../../api/kept-object.ts'
import { type ServiceInstance, serviceInstance } from '../../api/services/service-instance.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { type Bounded, bounded } from './bounded.ts'

const maxServices = 100

export type ServiceReader = {
  /** By name. People who look at the same time share the answer. */
  readonly list: (namespace: string) => Promise<Bounded<ServiceInstance>>
}

// Memory (lists of services in progress): namespace → the list that people who look at the same time share
//   life: until it settles
//   bound: requests in progress
//   freshness: its end
//   replicas: each reads
/** Its method rejects with KubeError. */
export function createServiceReader(kube: Pick<KubeClient, 'snapshot'>): ServiceReader {
  const flights = new SingleFlight<Bounded<ServiceInstance>>()
  return {
    list: namespace =>
      flights.run(namespace, async () => {
        const options = { namespace, keep: keptObject<ServiceInstance>, most: maxServices + 1 }
        const { items } = await kube.snapshot(serviceInstance, options)
        return bounded(items, maxServices)
      }),
  }
}
