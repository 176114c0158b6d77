// What the pods of a build namespace may reach: DNS, the source store, and what the operator lists (registries). Nothing may reach them.
// Builds run the code of the tenant's repository and of its dependencies: without these policies they could reach the API server and other
// tenants. Pure.
// Source: https://kubernetes.io/docs/concepts/services-networking/network-policies/
import { platformNamespace } from '../../api/names.ts'
import type { TenantSettings } from './settings.ts'

type NamedPolicy = {
  readonly name: string
  readonly spec: { readonly podSelector: object; readonly policyTypes: readonly string[] }
}

const everyPod = {}
const nameLabel = 'kubernetes.io/metadata.name'

function egress(
  name: string,
  to: readonly object[],
  ports: readonly { readonly protocol: string; readonly port: number }[],
): NamedPolicy {
  const spec = { podSelector: everyPod, policyTypes: ['Egress'], egress: [{ to, ports }] }
  return { name, spec }
}

function inNamespace(name: string): object {
  return { namespaceSelector: { matchLabels: { [nameLabel]: name } } }
}

/** Everything is denied by the first policy; each other policy allows one thing. */
export function buildNetworkPolicies(settings: TenantSettings): readonly NamedPolicy[] {
  const tcp = (port: number) => ({ protocol: 'TCP', port })
  return [
    { name: 'deny-all', spec: { podSelector: everyPod, policyTypes: ['Egress', 'Ingress'] } },
    egress('allow-dns', [inNamespace('kube-system')], [{ protocol: 'UDP', port: 53 }, tcp(53)]),
    egress('allow-source-store', [inNamespace(platformNamespace)], [tcp(settings.sourceStorePort)]),
    ...(settings.registryTokenPort === undefined
      ? []
      : [egress('allow-registry-tokens', [inNamespace(platformNamespace)], [tcp(settings.registryTokenPort)])]),
    ...settings.buildEgress.map(({ name, cidr, except, ports }) =>
      egress(`allow-${name}`, [{ ipBlock: { cidr, ...(except === undefined ? {} : { except: [...except] }) } }], ports.map(tcp)),
    ),
  ]
}
