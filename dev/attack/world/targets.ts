// Where acme and the platform are, read from the running installation as its administrator: addresses that an attacker would
// learn by looking around, or that only a look from outside shows to be alive.
import { connect } from 'node:net'
import type { AdminClient } from '../../cluster/control-plane/admin-client.ts'
import { type ClusterSettings, registryHost } from '../../cluster/settings.ts'
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'

export const platformNamespace = 'sekisho-system'
/** That with the accounts of servers. */
export const dataServicesNamespace = 'sekisho-data'

type Named = { readonly name: string; readonly namespace: string; readonly address: string; readonly ports: readonly number[] }

export type Targets = {
  readonly victim: {
    readonly pod: Named
    readonly service: Named
    readonly image: string
    readonly commit: string
    readonly host: string
    readonly remoteSync: { readonly name: string; readonly uid: string }
  }
  /** Pods of the platform, with the ports that they declare. */
  readonly platformPods: readonly Named[]
  /** Services of the platform and of the cluster. */
  readonly services: readonly Named[]
  readonly settings: Readonly<Record<string, string>>
  /** `host:port` of the registry, and the path below which the images of tenants lie: empty, or with a slash at its end. */
  readonly registry: string
  readonly imagePrefix: string
  readonly issuer: string
  readonly nodeAddress: string
  readonly apiServer: string
  readonly clusterDomain: string
}

type Item = {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly deletionTimestamp?: string
  }
  readonly spec: Record<string, unknown>
  readonly status: Record<string, unknown>
}

type Container = { readonly ports?: readonly { readonly containerPort: number }[] }

/** Rejects when acme has no running application: `make demo` makes one. */
export async function readTargets(admin: AdminClient, settings: ClusterSettings): Promise<Targets> {
  const list = async (path: string): Promise<readonly Item[]> =>
    ((await admin.call('GET', path)) as { readonly items: readonly Item[] }).items
  // One that is being deleted is gone before it is attacked.
  const stays = ({ metadata, status }: Item): boolean => status['phase'] === 'Running' && metadata.deletionTimestamp === undefined
  const pods = (await list('/api/v1/pods')).filter(stays).map(podOf)
  const services = (await list('/api/v1/services')).map(serviceOf)
  const application = (await admin.call(
    'GET',
    `/apis/apps.sekisho.dev/v1alpha1/namespaces/${tenantNamespace}/applications/shop`,
  )) as Item
  const sync = (await admin.call('GET', `/apis/apps.sekisho.dev/v1alpha1/namespaces/${tenantNamespace}/remotesyncs/shop`)) as Item
  const configuration = (await admin.call('GET', `/api/v1/namespaces/${platformNamespace}/configmaps/sekisho-settings`)) as {
    readonly data: Record<string, string>
  }
  const pod = pods.find(({ namespace }) => namespace === tenantNamespace)
  const service = services.find(({ namespace }) => namespace === tenantNamespace)
  const { image, commit, url } = application.status as { image?: string; commit?: string; url?: string }
  if (pod === undefined || service === undefined || image === undefined || url === undefined)
    throw new Error('acme has no running application: run make demo first')
  return {
    victim: {
      pod,
      service,
      image,
      commit: commit ?? '',
      host: new URL(url).host,
      remoteSync: { name: sync.metadata.name, uid: sync.metadata.uid },
    },
    platformPods: pods.filter(({ namespace }) => namespace === platformNamespace || namespace === 'kpack'),
    services: services.filter(({ namespace }) => ![tenantNamespace, neighbourNamespace].includes(namespace)),
    settings: configuration.data,
    ...registryOf(configuration.data['SEKISHO_REGISTRY'] ?? registryHost(settings)),
    issuer: configuration.data['SEKISHO_PUBLIC_URL'] ?? settings.issuerUrl,
    nodeAddress: settings.nodeAddress,
    apiServer: admin.server,
    clusterDomain: settings.clusterDomain,
  }
}

function registryOf(setting: string): Pick<Targets, 'registry' | 'imagePrefix'> {
  const [registry = '', ...path] = setting.split('/')
  return { registry, imagePrefix: path.map(part => `${part}/`).join('') }
}

function podOf({ metadata, spec, status }: Item): Named {
  const containers = spec['containers'] as readonly Container[]
  const ports = containers.flatMap(container => (container.ports ?? []).map(({ containerPort }) => containerPort))
  return { name: metadata.name, namespace: metadata.namespace, address: String(status['podIP']), ports }
}

function serviceOf({ metadata, spec }: Item): Named {
  const ports = (spec['ports'] ?? []) as readonly { readonly port: number; readonly protocol?: string }[]
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    address: String(spec['clusterIP']),
    ports: ports.filter(({ protocol }) => protocol !== 'UDP').map(({ port }) => port),
  }
}

/** The address of a pod of the platform that serves this port. */
export function platformAddress(targets: Targets, port: number): string {
  const [address] = platformAddresses(targets, port)
  if (address === undefined) throw new Error(`no pod of the platform declares port ${port}`)
  return address
}

/** Of all pods of the platform that serve this port: replicas, or several components for the port of metrics. */
export function platformAddresses({ platformPods }: Targets, port: number): readonly string[] {
  return platformPods
    .filter(({ namespace, ports }) => namespace === platformNamespace && ports.includes(port))
    .map(({ address }) => address)
}

/** Whether something listens there, as this host sees it. */
export function listens(host: string, port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host, port })
    const end = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(2000, () => end(false))
    socket.on('connect', () => end(true))
    socket.on('error', () => end(false))
  })
}
