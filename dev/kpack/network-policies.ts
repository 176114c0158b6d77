// The network of kpack's own namespace on the local cluster: its webhook answers the API server, its controller reads and
// writes images and objects. Everything else is closed. On other clusters the addresses of API server and registry are not
// known here.
import type { KubernetesObject } from './kubernetes-object.ts'
import { withLabel } from './kubernetes-object.ts'

/** What listens on the node, and the addresses by which the node and pods reach each other. */
export type NodeEndpoints = {
  readonly addresses: readonly string[]
  readonly apiServerPort: number
  readonly registryPort: number
}

const namespace = 'kpack'
const webhookPort = 8443
/** In the platform's pods. */
const registryTokenPort = 8445
const everyPod = {}

export function kpackNetworkPolicies({ addresses, apiServerPort, registryPort }: NodeEndpoints): readonly KubernetesObject[] {
  const node = addresses.map(address => ({ ipBlock: { cidr: `${address}/32` } }))
  const inNamespace = (name: string) => ({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } })
  const tcp = (port: number) => ({ protocol: 'TCP', port })
  const policy = (name: string, spec: object): KubernetesObject =>
    withLabel({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name, namespace }, spec })
  return [
    policy('sekisho-deny-all', { podSelector: everyPod, policyTypes: ['Ingress', 'Egress'] }),
    policy('sekisho-webhook', {
      podSelector: { matchLabels: { role: 'webhook' } },
      policyTypes: ['Ingress'],
      ingress: [{ from: node, ports: [tcp(webhookPort)] }],
    }),
    policy('sekisho-egress', {
      podSelector: everyPod,
      policyTypes: ['Egress'],
      egress: [
        { to: [inNamespace('kube-system')], ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] },
        { to: node, ports: [tcp(apiServerPort), tcp(registryPort)] },
        // The token server of the registry.
        { to: [inNamespace('sekisho-system')], ports: [tcp(registryTokenPort)] },
      ],
    }),
  ]
}
