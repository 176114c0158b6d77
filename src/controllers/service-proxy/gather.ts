// What must be known about the Services of a tenant's namespace: from the caches, and from this process's own writes that they
// do not show yet.
import { type CountedEndpointSlice, type Service, serviceNameLabel } from '../../api/builtin/index.ts'
import { labels } from '../../api/names.ts'
import { defaultResources } from '../../api/tenancy/resource-limits.ts'
import {
  isUncounted,
  maxEndpointPairs,
  maxServicePorts,
  serviceProxyLabel,
  tooManyEndpoints,
  uncounted,
  uncountedAgain,
} from '../../api/tenancy/service-proxy.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Facts, ServiceFacts } from './decide.ts'

export type GatherDeps = {
  readonly servicesIn: (namespace: string) => readonly Service[]
  readonly slicesIn: (namespace: string) => readonly CountedEndpointSlice[]
  /** The newer of the cached Service and this process's last write of it. */
  readonly latest: (cached: Service) => Service
}

/** Never throws, never writes. */
export function gather({ servicesIn, slicesIn, latest }: GatherDeps, { spec }: Tenant): Facts {
  const { namespace } = spec
  const slices = Map.groupBy(slicesIn(namespace), ({ metadata }) => metadata.labels?.[serviceNameLabel] ?? '')
  const maxPods = spec.limits?.resources?.pods ?? defaultResources.pods
  const services = servicesIn(namespace).map(cached => factsOf(latest(cached), slices.get(cached.metadata.name) ?? []))
  return { services, maxPairs: maxEndpointPairs(maxPods), maxPods }
}

function labelOf(proxy: string | undefined): ServiceFacts['label'] {
  if (proxy === tooManyEndpoints) return 'beyond'
  if (!isUncounted(proxy)) return 'none'
  return proxy === uncounted || proxy === uncountedAgain ? 'new' : 'changed'
}

/**
 * Kubernetes' controller copies the labels of the Service that it made a slice from, so slices with the value of the last
 * change were made after it. It creates slices before it changes others, and deletes at the end: once all have a value, only a
 * new Service, which had none before, may get more.
 * Source: https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/endpointslice/reconciler.go (finalize)
 */
function countOf({ metadata }: Service, slices: readonly CountedEndpointSlice[], isCounted: boolean): ServiceFacts['count'] {
  if (isCounted) return 'complete'
  const proxy = metadata.labels?.[serviceProxyLabel]
  // Slices of a deleted Service of the same name may be there for a moment.
  const isOwn = ({ metadata: { labels: own, ownerReferences } }: CountedEndpointSlice): boolean =>
    own?.[serviceProxyLabel] === proxy && ownerReferences?.[0]?.uid === metadata.uid
  if (slices.length === 0 || !slices.every(isOwn)) return 'none'
  return proxy === uncounted ? 'begun' : 'complete'
}

function factsOf(service: Service, slices: readonly CountedEndpointSlice[]): ServiceFacts {
  const { metadata, spec } = service
  const proxy = metadata.labels?.[serviceProxyLabel]
  const label = labelOf(proxy)
  const proxied = spec?.clusterIP !== 'None' && spec?.type !== 'ExternalName' && (proxy === undefined || label !== 'none')
  // Kubernetes makes no slices of a Service without a selector, and leaves those that are there.
  const selects = spec === undefined || Object.keys(spec.selector ?? {}).length > 0
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    createdAt: metadata.creationTimestamp ?? '',
    endpoints: slices.reduce((sum, { endpointCount }) => sum + endpointCount, 0),
    count: countOf(service, slices, !proxied || !selects || !isUncounted(proxy)),
    // Only the platform can set this label (rule reserved-metadata).
    ofApplication: metadata.labels?.[labels.application] !== undefined,
    // Without a spec it was too large to be kept (`keptObject`), and has as many as one may have.
    ports: spec === undefined ? maxServicePorts : (spec.ports?.length ?? 0),
    proxied,
    label,
  }
}
