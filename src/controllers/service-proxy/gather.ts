// What must be known about the Services of a tenant's namespace: from the caches, and from this process's own writes that they do not show yet.
import { type CountedEndpointSlice, type Service, serviceNameLabel } from '../../api/builtin/index.ts'
import { labels } from '../../api/names.ts'
import { mostEndpointPairs, mostServicePorts, serviceProxyLabel, tooManyEndpoints } from '../../api/service-proxy.ts'
import { defaultResources } from '../../api/tenancy/resource-limits.ts'
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
  const endpoints = new Map<string, number>()
  for (const { metadata, endpointCount } of slicesIn(spec.namespace)) {
    const service = metadata.labels?.[serviceNameLabel] ?? ''
    endpoints.set(service, (endpoints.get(service) ?? 0) + endpointCount)
  }
  const services = servicesIn(spec.namespace).map(cached => factsOf(latest(cached), endpoints.get(cached.metadata.name) ?? 0))
  return { services, mostPairs: mostEndpointPairs(spec.limits?.resources?.pods ?? defaultResources.pods) }
}

function factsOf({ metadata, spec }: Service, endpoints: number): ServiceFacts {
  const proxy = metadata.labels?.[serviceProxyLabel]
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    createdAt: metadata.creationTimestamp ?? '',
    // Only the platform can set this label (rule reserved-metadata).
    ofApplication: metadata.labels?.[labels.application] !== undefined,
    // Without a spec it was too large to be kept (`keptObject`), and has as many as one may have.
    ports: spec === undefined ? mostServicePorts : (spec.ports?.length ?? 0),
    endpoints,
    proxied: spec?.clusterIP !== 'None' && spec?.type !== 'ExternalName' && (proxy === undefined || proxy === tooManyEndpoints),
    labelled: proxy === tooManyEndpoints,
  }
}
