// The cluster's name server: CoreDNS as a pod in kube-system, as in other clusters, so that policies which allow DNS by that
// namespace and port 53 fit. It passes other names to the host's resolvers. It must never answer a name outside the cluster
// itself.
import { Resolver } from 'node:dns/promises'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import type { AdminClient, Manifest } from '../../control-plane/admin-client.ts'
import { hasEnded } from '../../processes/supervise.ts'
import type { ClusterSettings } from '../../settings.ts'
import type { NodeContext } from '../layout.ts'
import { buildProgramImage, importProgramImage } from '../program-image.ts'

const readyMilliseconds = 60_000
const namespace = 'kube-system'
const name = 'coredns'
const labels = { 'k8s-app': 'kube-dns' }
const nobody = 65_532
const readyPort = 8181

export function corefile(settings: Pick<ClusterSettings, 'clusterDomain'>): string {
  return `.:53 {
    errors
    ready :${readyPort}
    cache 5
    kubernetes ${settings.clusterDomain} in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 5
    }
    forward . /etc/resolv.conf
}
`
}

/** Every object of the name server, in the order of apply, by path. */
export function dnsObjects(settings: ClusterSettings, image: string): Readonly<Record<string, Manifest>> {
  const core = (kind: string, fields: object): Manifest => ({ apiVersion: 'v1', kind, metadata: { name, namespace }, ...fields })
  const group = 'rbac.authorization.k8s.io'
  const role = 'sekisho-dev-coredns'
  const read = ['list', 'watch']
  const configuration = corefile(settings)
  return {
    [`/api/v1/namespaces/${namespace}/serviceaccounts/${name}`]: core('ServiceAccount', {}),
    [`/apis/${group}/v1/clusterroles/${role}`]: {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name: role },
      rules: [
        { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: read },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
      ],
    },
    [`/apis/${group}/v1/clusterrolebindings/${role}`]: {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
    [`/api/v1/namespaces/${namespace}/configmaps/${name}`]: core('ConfigMap', { data: { Corefile: configuration } }),
    [`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`]: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace, labels },
      spec: {
        selector: { matchLabels: labels },
        // A changed Corefile must replace the pod.
        template: { metadata: { labels, annotations: { 'sekisho.dev/corefile': configuration } }, spec: dnsPod(image) },
      },
    },
    [`/api/v1/namespaces/${namespace}/services/kube-dns`]: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', namespace, labels },
      spec: {
        clusterIP: settings.dnsAddress,
        selector: labels,
        ports: ['UDP', 'TCP'].map(protocol => ({ name: `dns-${protocol.toLowerCase()}`, protocol, port: 53 })),
      },
    },
  }
}

function dnsPod(image: string): object {
  return {
    serviceAccountName: name,
    priorityClassName: 'system-cluster-critical',
    // The host's resolvers, not itself.
    dnsPolicy: 'Default',
    securityContext: {
      runAsNonRoot: true,
      runAsUser: nobody,
      seccompProfile: { type: 'RuntimeDefault' },
      // Port 53 without a capability; a safe sysctl of the pod's own network namespace.
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '53' }],
    },
    containers: [
      {
        name,
        image,
        imagePullPolicy: 'Never',
        args: ['-conf', '/etc/coredns/Corefile'],
        ports: [
          { name: 'dns', containerPort: 53, protocol: 'UDP' },
          { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
        ],
        readinessProbe: { httpGet: { path: '/ready', port: readyPort }, periodSeconds: 1 },
        resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '128Mi' } },
        securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        volumeMounts: [{ name: 'configuration', mountPath: '/etc/coredns', readOnly: true }],
      },
    ],
    volumes: [{ name: 'configuration', configMap: { name } }],
  }
}

async function applyDns(admin: AdminClient, settings: ClusterSettings, image: string): Promise<void> {
  for (const [path, manifest] of Object.entries(dnsObjects(settings, image))) await admin.apply(path, manifest)
}

/** Resolves when the Service answers. */
export async function startCoreDns(context: NodeContext, program: string): Promise<void> {
  const { settings, layout } = context
  const image = await buildProgramImage(name, program, layout.folder)
  await importProgramImage(context, image)
  await applyDns(context.controlPlane.admin, settings, image.name)
  const resolver = new Resolver({ timeout: 1000, tries: 1 })
  resolver.setServers([settings.dnsAddress])
  const known = `kubernetes.default.svc.${settings.clusterDomain}`
  await waitUntil(
    `cluster DNS at ${settings.dnsAddress}`,
    async () => (await resolver.resolve4(known)).includes(settings.serviceAddress),
    { timeoutMilliseconds: readyMilliseconds, hopeless: () => hasEnded('network-policies', context.folders) },
  )
}
