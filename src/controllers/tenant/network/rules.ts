// The pieces that the policies of both namespaces consist of: who (peers), where (ports), and the internet without what is not
// the internet. Pure.
// Source: https://kubernetes.io/docs/concepts/services-networking/network-policies/

import { type AddressRange, addressRange, containsRange } from '../../../lib/address-range.ts'
import type { NetworkSettings } from '../settings.ts'
import { type AllowedRange, metadataRanges } from './network-settings.ts'

export type NamedPolicy = { readonly name: string; readonly spec: PolicySpec }
type PolicySpec = {
  readonly podSelector: object
  readonly policyTypes: readonly ('Egress' | 'Ingress')[]
  readonly ingress?: readonly { readonly from: readonly object[] }[]
  readonly egress?: readonly EgressRule[]
}
export type Port = { readonly protocol: 'TCP' | 'UDP'; readonly port: number }
/** Without ports: all of them. */
export type EgressRule = { readonly to: readonly object[]; readonly ports?: readonly Port[] }

export const everyPod = {}

/** Everything is denied by this policy; the others allow. */
export const denyAll: NamedPolicy = {
  name: 'sekisho-deny-all',
  spec: { podSelector: everyPod, policyTypes: ['Egress', 'Ingress'] },
}

export const tcp = (port: number): Port => ({ protocol: 'TCP', port })

export function inNamespace(name: string): object {
  return { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } }
}

export function atAddresses({ cidr }: AddressRange): object {
  return { ipBlock: { cidr } }
}

/** The cluster's DNS: pods of kube-system, and caches on the nodes. */
export function dns({ dnsRanges }: NetworkSettings): EgressRule {
  return { to: [inNamespace('kube-system'), ...dnsRanges.map(atAddresses)], ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] }
}

/** Every address but those of the cluster, of private networks and of metadata services. */
export function internet({ clusterRanges, privateRanges }: NetworkSettings, ports?: readonly number[]): EgressRule {
  const blocked = [...clusterRanges, ...privateRanges]
  const to = ['0.0.0.0/0', '::/0'].map(cidr => without(addressRange(cidr), blocked))
  return { to, ...(ports === undefined ? {} : { ports: ports.map(tcp) }) }
}

/** What the operator allows besides, again without the metadata services. */
export function allowed(ranges: readonly AllowedRange[]): readonly EgressRule[] {
  return ranges.map(({ range, port }) => ({ to: [without(range, [])], ...(port === undefined ? {} : { ports: [tcp(port)] }) }))
}

/** `except` may name only parts of the range, each once. */
function without(range: AddressRange, blocked: readonly AddressRange[]): object {
  const parts = [...blocked, ...metadataRanges].filter(part => containsRange(range, part) && part.prefix > range.prefix)
  const outermost = parts.filter(
    (part, index) =>
      !parts.some((other, at) => at !== index && containsRange(other, part) && (other.prefix < part.prefix || at < index)),
  )
  const except = outermost.map(({ cidr }) => cidr)
  return { ipBlock: { cidr: range.cidr, ...(except.length === 0 ? {} : { except }) } }
}
