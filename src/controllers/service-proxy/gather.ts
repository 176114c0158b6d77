// What must be known about the Services of a tenant's namespace: from the caches, and from this process's own writes that they do not show yet.
import { type CountedEndpointSlice, type ResourceQuota, type Service, serviceNameLabel } from '../../api/builtin/index.ts'
import { labels } from '../../api/names.ts'
import { defaultResources } from '../../api/tenancy/resource-limits.ts'
import { mostEndpointPairs, mostServicePorts, serviceProxyLabel, tooManyEndpoints } from '../../api/tenancy/service-proxy.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Facts, ServiceFacts } from './decide.ts'

export type GatherDeps = {
  readonly servicesIn: (namespace: string) => readonly Service[]
  readonly slicesIn: (namespace: string) => readonly CountedEndpointSlice[]
  readonly quotasIn: (namespace: string) => readonly ResourceQuota[]
  /** The newer of the cached Service and this process's last write of it. */
  readonly latest: (cached: Service) => Service
}

/** Never throws, never writes. */
export function gather({ servicesIn, slicesIn, quotasIn, latest }: GatherDeps, { spec }: Tenant): Facts {
  const { namespace } = spec
  const endpoints = new Map<string, number>()
  for (const { metadata, endpointCount } of slicesIn(namespace)) {
    const service = metadata.labels?.[serviceNameLabel] ?? ''
    endpoints.set(service, (endpoints.get(service) ?? 0) + endpointCount)
  }
  const mostPods = spec.limits?.resources?.pods ?? defaultResources.pods
  const pods = podsIn(quotasIn(namespace)) ?? mostPods
  const services = servicesIn(namespace).map(cached => factsOf(latest(cached), endpoints.get(cached.metadata.name), pods))
  return { services, mostPairs: mostEndpointPairs(mostPods) }
}

/** How many there are, as admission counts them; undefined while nothing is counted. The other quotas allow none. */
function podsIn(quotas: readonly ResourceQuota[]): number | undefined {
  const counts = quotas.map(({ status }) => Number(status?.used?.['pods'])).filter(Number.isFinite)
  return counts.length === 0 ? undefined : Math.max(...counts)
}

/** Kubernetes makes a slice for every Service with a selector, within seconds when there are many; until then all pods may be behind it. */
function factsOf({ metadata, spec }: Service, counted: number | undefined, pods: number): ServiceFacts {
  const proxy = metadata.labels?.[serviceProxyLabel]
  const selects = spec === undefined || spec.selector !== undefined
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    createdAt: metadata.creationTimestamp ?? '',
    endpoints: counted ?? (selects ? pods : 0),
    counted: counted !== undefined,
    // Only the platform can set this label (rule reserved-metadata).
    ofApplication: metadata.labels?.[labels.application] !== undefined,
    // Without a spec it was too large to be kept (`keptObject`), and has as many as one may have.
    ports: spec === undefined ? mostServicePorts : (spec.ports?.length ?? 0),
    proxied: spec?.clusterIP !== 'None' && spec?.type !== 'ExternalName' && (proxy === undefined || proxy === tooManyEndpoints),
    labelled: proxy === tooManyEndpoints,
  }
}
