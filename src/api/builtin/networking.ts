// Ingresses, NetworkPolicies and EndpointSlices, with the fields that we use.
import type { KubeObject } from '../resource.ts'
import { namespacedKind } from './resource-type.ts'

export type IngressPath = {
  readonly path?: string
  readonly pathType: string
  readonly backend: {
    readonly service?: { readonly name: string; readonly port: { readonly number?: number; readonly name?: string } }
  }
}

export type Ingress = KubeObject & {
  readonly spec?: {
    readonly ingressClassName?: string
    readonly rules?: readonly { readonly host?: string; readonly http?: { readonly paths: readonly IngressPath[] } }[]
    readonly tls?: readonly { readonly hosts?: readonly string[]; readonly secretName?: string }[]
  }
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
  }
}
export const ingresses = namespacedKind<Ingress>('networking.k8s.io/v1', 'Ingress', 'ingresses')

/** The hosts that an Ingress serves. */
export function hostsOfIngress({ spec }: Ingress): readonly string[] {
  return [...new Set((spec?.rules ?? []).flatMap(({ host }) => (host === undefined ? [] : [host])))]
}

export type NetworkPolicy = KubeObject & {
  readonly spec?: {
    readonly podSelector: object
    readonly policyTypes?: readonly string[]
    readonly ingress?: readonly object[]
    readonly egress?: readonly object[]
  }
}
export const networkPolicies = namespacedKind<NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies')

export type EndpointSlice = KubeObject & {
  readonly addressType: 'IPv4' | 'IPv6'
  readonly endpoints?:
    | readonly { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } }[]
    | null
  readonly ports?: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null
}
export const endpointSlices = namespacedKind<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices')

/** The label by which an EndpointSlice belongs to a Service; Kubernetes' controller sets it. */
export const serviceNameLabel = 'kubernetes.io/service-name'

/**
 * What caches keep of an EndpointSlice (`keptObject`): the name of its Service among the labels, and how many endpoints it has,
 * ready or not.
 */
export type CountedEndpointSlice = KubeObject & { readonly endpointCount: number }
export const countedEndpointSlices = namespacedKind<CountedEndpointSlice>(
  'discovery.k8s.io/v1',
  'EndpointSlice',
  'endpointslices',
)
