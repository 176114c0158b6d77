// What only the local cluster knows of the network: the API server calls the webhook from the node; pods do not call the
// broker; GitHub, the registry, PostgreSQL and the API server are ports of the node.
import type { ClusterSettings } from '../../cluster/settings.ts'
import { githubPort } from '../github.ts'
import type { Mode } from '../mode.ts'
import { patchOf } from './part.ts'

type Rule = { readonly to: readonly object[]; readonly ports: readonly object[] }

export function networkPatches(settings: ClusterSettings, mode: Mode): readonly object[] {
  const { nodeAddress, podGateway, podCidr, registryPort, ports, postgresPort } = settings
  const ofTenants = [settings.tenantsPostgresPort, settings.tenantsStorePort, settings.tenantsStoreIamPort]
  const node = [nodeAddress, podGateway].map(address => ({ ipBlock: { cidr: `${address}/32` } }))
  const tcp = (port: number) => ({ protocol: 'TCP', port })
  const toNode = (...numbers: readonly number[]): Rule => ({ to: node, ports: numbers.map(tcp) })
  const add = (name: string, path: string, value: unknown): object =>
    patchOf({ kind: 'NetworkPolicy', name }, { op: 'add', path, value })
  const replace = (name: string, path: string, value: unknown): object =>
    patchOf({ kind: 'NetworkPolicy', name }, { op: 'replace', path, value })
  const database = mode === 'production' ? [postgresPort] : []
  // One pod is both in the standalone form.
  const tenants = mode === 'standalone' ? ofTenants : []
  return [
    replace('sekisho-admission', '/spec/ingress', [{ from: node, ports: [tcp(9443)] }]),
    replace('sekisho-access-records', '/spec/ingress', [{ from: node, ports: [tcp(9444)] }]),
    // All that the broker talks to is on the node: it needs nothing of the internet.
    replace('sekisho-broker-egress', '/spec/egress', [toNode(ports.apiServer, githubPort, ...database)]),
    add('sekisho-broker', '/spec/ingress/0/from/0/ipBlock/except', [podCidr]),
    add(
      'sekisho-controllers-egress',
      '/spec/egress/-',
      toNode(ports.apiServer, githubPort, registryPort, ...database, ...tenants),
    ),
    // It needs nothing but the API server and the servers that tenants share.
    replace('sekisho-data-services-egress', '/spec/egress', [toNode(ports.apiServer, ...ofTenants)]),
  ]
}
