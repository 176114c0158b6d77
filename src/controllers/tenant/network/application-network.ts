// Who may reach the pods of a tenant's own namespace, and what they may reach: each other, DNS, the token desk and the internet. Not the pods of
// others, the nodes, the API server or the metadata service of a cloud. Pure.
import { platformNamespace } from '../../../api/names.ts'
import type { NetworkSettings } from '../settings.ts'
import { allowed, atAddresses, denyAll, dns, everyPod, inNamespace, internet, type NamedPolicy, tcp } from './rules.ts'

const ownPods = { podSelector: everyPod }

/** In the order of apply: what denies comes first. */
export function applicationNetworkPolicies(settings: NetworkSettings): readonly NamedPolicy[] {
  const { ingressFrom, tokenDeskPort, applicationEgress } = settings
  const from = [ownPods, ...ingressFrom.namespaces.map(inNamespace), ...ingressFrom.ranges.map(atAddresses)]
  const egress = [
    { to: [ownPods] },
    dns(settings),
    { to: [inNamespace(platformNamespace)], ports: [tcp(tokenDeskPort)] },
    internet(settings),
    ...allowed(applicationEgress),
  ]
  return [
    denyAll,
    { name: 'sekisho-ingress', spec: { podSelector: everyPod, policyTypes: ['Ingress'], ingress: [{ from }] } },
    { name: 'sekisho-egress', spec: { podSelector: everyPod, policyTypes: ['Egress'], egress } },
  ]
}
