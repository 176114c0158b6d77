// Wires the controller that keeps a tenant's Services within the bound on ports × endpoints: its keys are Tenants, and every
// change of a Service or of the number of endpoints behind one wakes the tenant of the namespace. Decides nothing.
import { type CountedEndpointSlice, countedEndpointSlices, type Service, services } from '../../api/builtin/index.ts'
import { type KubeObject, keyOf, type ObjectKey } from '../../api/resource.ts'
import { serviceProxyLabel, tooManyEndpoints } from '../../api/tenancy/service-proxy.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import type { Rate } from '../../lib/limits/token-bucket.ts'
import { reportInEvents, withMissingRights } from '../kit/missing-right.ts'
import { tenantsByNamespace } from '../kit/tenants-by-namespace.ts'
import { createOwnWrites } from './own-writes.ts'
import { reconcileServiceProxy } from './reconcile.ts'

export type ServiceProxyControllerDeps = {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
  /** Of new and changed Services of a namespace. */
  readonly pace?: Rate
  /** Receives a function that counts the Services of all tenants that are taken away from kube-proxy. */
  readonly countedBy?: (count: () => number) => void
}

/**
 * All Services that a tenant can have at once; whoever makes and changes them all the time, or goes back and forth over the
 * bound, is slowed down.
 */
const usualPace: Rate = { burst: 100, millisecondsPerToken: 1000 }

/**
 * kube-proxy uses neither of the others. Source:
 * https://github.com/kubernetes/kubernetes/blob/master/cmd/kube-proxy/app/server.go
 */
const proxiedSlices = { labelSelector: 'kubernetes.io/service-name,!service.kubernetes.io/headless' }

const byNamespace = 'service-proxy/namespace'
const byLabel = 'service-proxy/label'

// Memory (pace of Services): namespace → token bucket: 100 new or changed Services at once, then one a second
//   life: the process
//   bound: 10,000 keys, the one used longest ago forgotten first
//   freshness: none is needed: buckets refill by time
//   replicas: leader only; the next begins with full ones

// Memory (numbers of endpoints): EndpointSlice → its Service, that one’s proxy name, and how many endpoints it has
//   life: while the slice exists
//   bound: one entry of a slice, about 0.7 KB
//   freshness: watch events
//   replicas: each has the cache; only the leader labels Services
/** Call before the manager starts: caches and indexes cannot be added later. */
export function createServiceProxyController(deps: ServiceProxyControllerDeps): ControllerDefinition {
  const { manager, events, clock, pace = usualPace } = deps
  const caches = {
    tenants: manager.cache(tenant),
    services: manager.cache(services),
    slices: manager.cache(countedEndpointSlices, proxiedSlices),
  }
  const tenantsIn = tenantsByNamespace(caches.tenants)
  caches.services.addIndex(byNamespace, namespaceOf)
  caches.services.addIndex(byLabel, ({ metadata }) => [metadata.labels?.[serviceProxyLabel] ?? ''])
  caches.slices.addIndex(byNamespace, namespaceOf)
  deps.countedBy?.(() => caches.services.byIndex(byLabel, tooManyEndpoints).length)
  const tenantsOf = (object: KubeObject): readonly ObjectKey[] => tenantsIn(object.metadata.namespace ?? '').map(keyOf)
  const reconciling = {
    client: manager.client,
    tenants: caches.tenants,
    servicesIn: (namespace: string): readonly Service[] => caches.services.byIndex(byNamespace, namespace),
    slicesIn: (namespace: string): readonly CountedEndpointSlice[] => caches.slices.byIndex(byNamespace, namespace),
    ownWrites: createOwnWrites(),
    pace: createKeyedBuckets(pace, clock),
    events,
  }
  const definition: ControllerDefinition = {
    name: 'service-proxy',
    for: tenant,
    watches: [
      watches(services, tenantsOf, {
        predicate: partChanged(({ metadata, spec }) => [metadata.labels?.[serviceProxyLabel], spec?.ports?.length, spec?.type]),
      }),
      watches(countedEndpointSlices, tenantsOf, {
        ...proxiedSlices,
        predicate: partChanged(({ endpointCount, metadata }) => [endpointCount, metadata.labels?.[serviceProxyLabel]]),
      }),
    ],
    reconcile: context => reconcileServiceProxy(reconciling, context),
  }
  return withMissingRights(definition, { cache: caches.tenants, says: reportInEvents(events), clock })
}

function namespaceOf({ metadata }: KubeObject): readonly string[] {
  return [metadata.namespace ?? '']
}
