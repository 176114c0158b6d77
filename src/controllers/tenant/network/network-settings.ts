// The settings of the network policies of tenants: which addresses their pods may reach, and who may reach them.
import { isIP } from 'node:net'
import { type AddressRange, addressRange, containsRange } from '../../../lib/address-range.ts'
import { itemsOf, listSetting, type Setting, textSetting } from '../../../lib/config.ts'

/** A range that pods may open connections to; without a port, all its ports. */
export type AllowedRange = { readonly range: AddressRange; readonly port?: number }

/** Who may open connections to applications: pods of namespaces, and addresses. */
export type IngressPeers = { readonly namespaces: readonly string[]; readonly ranges: readonly AddressRange[] }

/**
 * The metadata services of clouds, and what else hands out credentials by address: AWS, Google, Azure, Oracle, OpenStack,
 * DigitalOcean, Hetzner (link-local), Azure's wire server, Alibaba, Oracle's older address, AWS by IPv6. No setting opens them.
 */
export const metadataRanges: readonly AddressRange[] = [
  '169.254.0.0/16',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.0/24',
  'fe80::/10',
  'fd00:ec2::254/128',
].map(addressRange)

/** RFC 1918, RFC 6598, RFC 4193, and the addresses of the host itself. */
const privateRanges = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,127.0.0.0/8,0.0.0.0/8,fc00::/7,::1/128'

/** `10.20.0.0/16` or `10.20.0.5/32:5432`. No range of a metadata service can be named. */
function allowedRange(text: string): AllowedRange {
  const [, cidr = text, port] = /^(.+\/[0-9]{1,3})(?::([0-9]{1,5}))?$/.exec(text) ?? []
  const range = addressRange(cidr)
  const metadata = metadataRanges.find(part => containsRange(part, range))
  if (metadata) throw new Error(`must not name ${cidr}, which belongs to the metadata services of clouds (${metadata.cidr})`)
  if (port === undefined) return { range }
  if (Number(port) < 1 || Number(port) > 65_535) throw new Error(`must name ports from 1 to 65535, not ${port}`)
  return { range, port: Number(port) }
}

function ingressPeers(text: string): IngressPeers {
  const items = itemsOf(text)
  const namespaces = items.filter(item => !item.includes('/'))
  const wrong = namespaces.find(item => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(item))
  if (wrong !== undefined) throw new Error(`must consist of namespaces and ranges such as 10.0.0.0/24, not ${wrong}`)
  return { namespaces, ranges: items.filter(item => item.includes('/')).map(addressRange) }
}

export const networkSettings = {
  probeHost: textSetting(
    'SEKISHO_NETWORK_PROBE_HOST',
    'the host name of the pod by which the platform finds out whether network policies are enforced',
    { default: 'sekisho-network-probe.sekisho-system.svc' },
  ),
  ingressFrom: {
    name: 'SEKISHO_INGRESS_FROM',
    description:
      'who may reach the pods of applications: the namespace of the ingress controller, such as traefik; for a controller on the network of its host, the address ranges of those hosts',
    kind: 'list',
    parse: ingressPeers,
  } satisfies Setting<IngressPeers>,
  clusterRanges: listSetting(
    'SEKISHO_CLUSTER_CIDRS',
    'address ranges of pods, Services, nodes and API servers that are not in SEKISHO_PRIVATE_CIDRS; pods of tenants cannot reach them',
    addressRange,
  ),
  privateRanges: listSetting(
    'SEKISHO_PRIVATE_CIDRS',
    'address ranges that are not the internet, and that pods of tenants therefore cannot reach',
    addressRange,
    { default: privateRanges },
  ),
  dnsRanges: listSetting(
    'SEKISHO_DNS_CIDRS',
    'addresses of DNS caches on the nodes, which pods of tenants may reach at port 53 besides the DNS pods in kube-system; with NodeLocal DNSCache and kube-proxy in iptables mode also the address of the DNS Service',
    addressRange,
    { default: '169.254.20.10/32' },
  ),
  applicationEgress: listSetting(
    'SEKISHO_APPLICATION_EGRESS',
    'address ranges outside the internet that applications of all tenants may reach, such as 10.20.0.0/16 or 10.20.0.5/32:5432',
    allowedRange,
  ),
  buildEgress: listSetting(
    'SEKISHO_BUILD_EGRESS',
    'address ranges outside the internet that builds of all tenants may reach, such as a registry or package mirror at 10.30.0.8/32:443; a registry that SEKISHO_REGISTRY names by address is included',
    allowedRange,
  ),
} as const

/** The registry's own address and port, when it is named by address; undefined for a host name. */
export function registryRange(registry: string): AllowedRange | undefined {
  const { host, port } = registryAddress(registry)
  const family = isIP(host)
  if (family === 0) return undefined
  const range = addressRange(`${host}/${family === 4 ? 32 : 128}`)
  return port === undefined ? { range, port: 443 } : { range, port }
}

/** The port of the registry when it is named in the reference. */
export function registryPort(registry: string): number | undefined {
  return registryAddress(registry).port
}

function registryAddress(registry: string): { readonly host: string; readonly port: number | undefined } {
  const [, host = '', port] = /^(\[[0-9a-fA-F:]+\]|[^/:]+)(?::([0-9]{1,5}))?(?:\/|$)/.exec(registry) ?? []
  return { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? undefined : Number(port) }
}
