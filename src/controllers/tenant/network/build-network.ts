// What the pods of a build namespace may reach: DNS, the source store, the registry, and package registries on the internet. Nothing may reach
// them, and a pod that is not a build reaches nothing. Builds run the code of the tenant's repository and of its dependencies. Pure.
import { platformNamespace } from '../../../api/names.ts'
import type { NetworkSettings } from '../settings.ts'
import { allowed, denyAll, dns, inNamespace, internet, type NamedPolicy, tcp } from './rules.ts'

/** kpack sets this label on the pods of its builds. */
const buildPods = { matchExpressions: [{ key: 'kpack.io/build', operator: 'Exists' }] }

/** In the order of apply: what denies comes first. */
export function buildNetworkPolicies(settings: NetworkSettings): readonly NamedPolicy[] {
  const { sourceStorePort, registryTokenPort, buildPorts, buildEgress } = settings
  const platformPorts = [sourceStorePort, ...(registryTokenPort === undefined ? [] : [registryTokenPort])]
  const egress = [
    dns(settings),
    { to: [inNamespace(platformNamespace)], ports: platformPorts.map(tcp) },
    internet(settings, buildPorts),
    ...allowed(buildEgress),
  ]
  return [denyAll, { name: 'sekisho-egress', spec: { podSelector: buildPods, policyTypes: ['Egress'], egress } }]
}
