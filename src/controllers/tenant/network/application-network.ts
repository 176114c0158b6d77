// Who may reach the pods of a tenant's own namespace, and what they may reach: each other, DNS, the token desk, the git
// proxy and the internet. Not the pods of others, the nodes, the API server or the metadata service of a cloud. Pods of isolated
// Applications, whose code is not trusted, are cut off from the tenant as well: they reach DNS and the internet only, and only
// the ingress controller reaches them. Pure.
import { labels, platformNamespace } from '../../../api/names.ts'
import type { NetworkSettings } from '../settings.ts'
import { allowed, atAddresses, denyAll, dns, type EgressRule, inNamespace, internet, type NamedPolicy, tcp } from './rules.ts'

/**
 * Policies add up: what applies to the others must not select the isolated pods. A pod without the label is one of the others.
 */
const trustedPods = { matchExpressions: [{ key: labels.isolated, operator: 'DoesNotExist' }] }
const isolatedPods = { matchExpressions: [{ key: labels.isolated, operator: 'Exists' }] }
const ownPods = { podSelector: trustedPods }

const reached = (name: string, podSelector: object, from: readonly object[]): NamedPolicy => ({
  name,
  // A rule whose list of peers is empty would let everybody in.
  spec: { podSelector, policyTypes: ['Ingress'], ingress: from.length === 0 ? [] : [{ from }] },
})
const reach = (name: string, podSelector: object, egress: readonly EgressRule[]): NamedPolicy => ({
  name,
  spec: { podSelector, policyTypes: ['Egress'], egress },
})

/** In the order of apply: what denies comes first. */
export function applicationNetworkPolicies(settings: NetworkSettings): readonly NamedPolicy[] {
  const { ingressFrom, tokenDeskPort, gitProxyPort, applicationEgress } = settings
  const outside = [...ingressFrom.namespaces.map(inNamespace), ...ingressFrom.ranges.map(atAddresses)]
  const egress = [
    { to: [ownPods] },
    dns(settings),
    { to: [inNamespace(platformNamespace)], ports: [tcp(tokenDeskPort), tcp(gitProxyPort)] },
    internet(settings),
    ...allowed(applicationEgress),
  ]
  return [
    denyAll,
    reached('sekisho-ingress', trustedPods, [ownPods, ...outside]),
    reach('sekisho-egress', trustedPods, egress),
    reached('sekisho-ingress-isolated', isolatedPods, outside),
    reach('sekisho-egress-isolated', isolatedPods, [dns(settings), internet(settings)]),
  ]
}
