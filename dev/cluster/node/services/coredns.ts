// The cluster's name server: CoreDNS as a host process behind the Service kube-dns. It passes other names to the host's resolvers.
// It must never answer a name outside the cluster itself.
import { Resolver } from 'node:dns/promises'
import { join } from 'node:path'
import type { AdminClient } from '../../control-plane/admin-client.ts'
import { ensureRunning, hasEnded } from '../../processes/supervise.ts'
import { replaceFile } from '../../replace-file.ts'
import type { ClusterSettings } from '../../settings.ts'
import { waitUntil } from '../../wait-until.ts'
import type { NodeContext } from '../layout.ts'

const readyMilliseconds = 60_000

export function corefile(settings: ClusterSettings, kubeconfig: string): string {
  return `.:${settings.dnsPort} {
    bind ${settings.nodeAddress}
    errors
    cache 5
    kubernetes ${settings.clusterDomain} in-addr.arpa ip6.arpa {
        kubeconfig ${kubeconfig}
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 5
    }
    forward . /etc/resolv.conf
}
`
}

/** The Service has no selector: its endpoint is the host process. */
export async function applyDnsService(admin: AdminClient, settings: ClusterSettings): Promise<void> {
  const namespace = 'kube-system'
  const protocols = [
    { name: 'dns', protocol: 'UDP' },
    { name: 'dns-tcp', protocol: 'TCP' },
  ]
  await admin.apply(`/api/v1/namespaces/${namespace}/services/kube-dns`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace },
    spec: { clusterIP: settings.dnsAddress, ports: protocols.map(item => ({ ...item, port: 53 })) },
  })
  await admin.apply(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/kube-dns-host`, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kube-dns-host', namespace, labels: { 'kubernetes.io/service-name': 'kube-dns' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [settings.nodeAddress], conditions: { ready: true } }],
    ports: protocols.map(item => ({ ...item, port: settings.dnsPort })),
  })
}

export async function startCoreDns(context: NodeContext, path: string, kubeconfig: string): Promise<void> {
  const { settings, folders, layout } = context
  const configuration = join(layout.folder, 'config', 'Corefile')
  await replaceFile(configuration, corefile(settings, kubeconfig))
  await ensureRunning(
    { name: 'coredns', path, args: ['-conf', configuration], configurationFiles: [configuration, kubeconfig] },
    folders,
  )
  await applyDnsService(context.controlPlane.admin, settings)
  for (const server of [`${settings.nodeAddress}:${settings.dnsPort}`, settings.dnsAddress]) {
    const resolver = new Resolver({ timeout: 1000, tries: 1 })
    resolver.setServers([server])
    const name = `kubernetes.default.svc.${settings.clusterDomain}`
    await waitUntil(
      `cluster DNS at ${server}`,
      async () => ((await resolver.resolve4(name)).includes(settings.serviceAddress) ? true : undefined),
      { timeoutMilliseconds: readyMilliseconds, hopeless: () => hasEnded('coredns', folders) },
    )
  }
}
