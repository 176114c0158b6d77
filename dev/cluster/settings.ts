// Every address, port and folder of the local cluster, with the environment variable that overrides it.
// It is the only reader of process.env below dev/cluster.
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../src/lib/errors.ts'

export type Environment = { readonly [name: string]: string | undefined }

export type ControlPlanePorts = {
  readonly apiServer: number
  readonly etcdClient: number
  readonly etcdPeer: number
  readonly controllerManager: number
}

export type ClusterSettings = {
  readonly repository: string
  /** Holds the state of all clusters of this checkout: `cluster/` (development) and `test-cluster/`. */
  readonly stateFolder: string
  readonly cacheFolder: string
  /** Records the changes to the host, one folder per machine and user, so that another checkout can undo them. */
  readonly hostRecordFolder: string
  /** A cluster given by the user: it is used, and nothing is started. */
  readonly givenKubeconfig: string | undefined
  readonly givenTestKubeconfig: string | undefined
  readonly kubebuilderAssets: string | undefined
  readonly downloads: boolean
  /** Only root can run pods; without root there is only a control plane. */
  readonly root: boolean
  readonly nodeAddress: string
  readonly nodeName: string
  readonly ports: ControlPlanePorts
  readonly testPorts: ControlPlanePorts
  readonly schedulerPort: number
  /** The registry with token authentication: tenants' images, builder and stack. */
  readonly registryPort: number
  /** The registry on loopback with the images that run before tokens can be issued: the platform itself and kpack. */
  readonly nodeRegistryPort: number
  /** Plain http. */
  readonly ingressPort: number
  /** Https, with the certificates of Ingresses, or with one that Traefik makes for itself. */
  readonly ingressTlsPort: number
  /** PostgreSQL of the production form, on the node address. */
  readonly postgresPort: number
  /** The PostgreSQL that tenants share, on the node address. */
  readonly tenantsPostgresPort: number
  /** S3 of the store of buckets that tenants share, on the node address. */
  readonly tenantsStorePort: number
  /** IAM of that store: only the platform and people on this machine use it. */
  readonly tenantsStoreIamPort: number
  readonly podCidr: string
  readonly podGateway: string
  readonly serviceCidr: string
  /** The first address of the service range, which Kubernetes reserves for the Service `kubernetes`. */
  readonly serviceAddress: string
  readonly dnsAddress: string
  /** The fixed service address at which nodes, builds and kpack ask for registry tokens: the node has no cluster DNS. */
  readonly registryTokenAddress: string
  /** The fixed service address at which the API server asks the authorizer. */
  readonly authorizerAddress: string
  readonly clusterDomain: string
  readonly issuerUrl: string
}

const repository = resolve(fileURLToPath(new URL('../..', import.meta.url)))
const maxStateFolder = 60

/** Reads all settings; reports all wrong ones at once, by variable. */
export function readClusterSettings(
  environment: Environment = process.env,
  facts: { readonly root: boolean } = { root: process.getuid?.() === 0 },
): ClusterSettings {
  const problems: string[] = []
  const text = (variable: string, fallback: string): string => environment[variable] || fallback
  const port = (variable: string, fallback: number): number => {
    const value = Number(text(variable, String(fallback)))
    if (!Number.isInteger(value) || value < 1 || value > 65_535)
      problems.push(`${variable} must be a port number from 1 to 65535`)
    return value
  }
  const address = (variable: string, fallback: string): string => {
    const value = text(variable, fallback)
    if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(value)) problems.push(`${variable} must be an IPv4 address such as ${fallback}`)
    return value
  }
  const home = text('HOME', homedir())
  const nodeAddress = address('SEKISHO_NODE_ADDRESS', facts.root ? '10.88.0.1' : '127.0.0.1')
  const hostRecordFolder = join(text('XDG_STATE_HOME', join(home, '.local', 'state')), 'sekisho')
  const stateFolder = resolve(text('SEKISHO_STATE', defaultStateFolder(repository, hostRecordFolder)))
  if (Buffer.byteLength(stateFolder) > maxStateFolder) {
    problems.push(
      `SEKISHO_STATE must be a folder whose path has at most ${maxStateFolder} bytes (Unix socket paths below it may have at most 107), not ${stateFolder}`,
    )
  }
  const given = environment['KUBECONFIG'] || undefined
  const settings: ClusterSettings = {
    repository,
    stateFolder,
    cacheFolder: resolve(text('SEKISHO_CACHE', join(text('XDG_CACHE_HOME', join(home, '.cache')), 'sekisho'))),
    hostRecordFolder,
    // A KUBECONFIG that names our own file, as `env` prints it, is not a given cluster: `up` and `down` still mean the local one.
    givenKubeconfig: given === join(stateFolder, 'cluster', 'kubeconfig') ? undefined : given,
    givenTestKubeconfig: environment['SEKISHO_TEST_KUBECONFIG'] || undefined,
    kubebuilderAssets: environment['KUBEBUILDER_ASSETS'] || undefined,
    downloads: text('SEKISHO_DOWNLOADS', 'on') !== 'off',
    root: facts.root,
    nodeAddress,
    nodeName: text('SEKISHO_NODE_NAME', 'sekisho-node'),
    ports: {
      apiServer: port('SEKISHO_API_PORT', 6443),
      etcdClient: port('SEKISHO_ETCD_PORT', 2379),
      etcdPeer: port('SEKISHO_ETCD_PEER_PORT', 2380),
      controllerManager: port('SEKISHO_CONTROLLER_MANAGER_PORT', 10_257),
    },
    testPorts: {
      apiServer: port('SEKISHO_TEST_API_PORT', 16_443),
      etcdClient: port('SEKISHO_TEST_ETCD_PORT', 12_379),
      etcdPeer: port('SEKISHO_TEST_ETCD_PEER_PORT', 12_380),
      controllerManager: port('SEKISHO_TEST_CONTROLLER_MANAGER_PORT', 20_257),
    },
    schedulerPort: port('SEKISHO_SCHEDULER_PORT', 10_259),
    registryPort: port('SEKISHO_REGISTRY_PORT', 5000),
    nodeRegistryPort: port('SEKISHO_NODE_REGISTRY_PORT', 5001),
    ingressPort: port('SEKISHO_INGRESS_PORT', 8080),
    ingressTlsPort: port('SEKISHO_INGRESS_TLS_PORT', 8446),
    postgresPort: port('SEKISHO_POSTGRES_PORT', 5432),
    tenantsPostgresPort: port('SEKISHO_TENANTS_POSTGRES_PORT', 5433),
    tenantsStorePort: port('SEKISHO_TENANTS_STORE_PORT', 7070),
    tenantsStoreIamPort: port('SEKISHO_TENANTS_STORE_IAM_PORT', 7071),
    podCidr: '10.244.0.0/24',
    podGateway: '10.244.0.1',
    serviceCidr: '10.96.0.0/12',
    serviceAddress: '10.96.0.1',
    dnsAddress: '10.96.0.10',
    registryTokenAddress: '10.96.0.11',
    authorizerAddress: '10.96.0.12',
    clusterDomain: 'cluster.local',
    issuerUrl: text('SEKISHO_ISSUER_URL', `https://${nodeAddress}:8443`),
  }
  if (!settings.issuerUrl.startsWith('https://'))
    problems.push('SEKISHO_ISSUER_URL must be an https URL; the API server accepts no other')
  if (problems.length > 0) throw new AppError('invalid_configuration', problems.join('; '))
  return settings
}

/** `.state` of the checkout, or a short path of its own where that is too long for the Unix sockets below it. */
export function defaultStateFolder(checkout: string, hostRecordFolder: string): string {
  const inside = join(checkout, '.state')
  if (Buffer.byteLength(inside) <= maxStateFolder) return inside
  return join(hostRecordFolder, 'state', createHash('sha256').update(checkout).digest('hex').slice(0, 8))
}

/** The folder of the development cluster's state; the test cluster has another. */
export function devClusterFolder(settings: ClusterSettings): string {
  return join(settings.stateFolder, 'cluster')
}

/** The settings under which `make up` keeps what it makes here for a cluster of the user's: apart from the local cluster's. */
export function givenState(settings: ClusterSettings): ClusterSettings {
  const inside = (folder: string): string => join(folder, 'given')
  return { ...settings, stateFolder: inside(settings.stateFolder), hostRecordFolder: inside(settings.hostRecordFolder) }
}

export function testClusterFolder(settings: ClusterSettings): string {
  return join(settings.stateFolder, 'test-cluster')
}

/** `host:port` of the registry from which the node pulls and to which builds push (plain http). */
export function registryHost(settings: ClusterSettings): string {
  return `${settings.nodeAddress}:${settings.registryPort}`
}

/** `host:port` of the registry on loopback: pods cannot reach it, the node can. */
export function nodeRegistryHost(settings: ClusterSettings): string {
  return `127.0.0.1:${settings.nodeRegistryPort}`
}

/** Where the tenants' images go: beside the platform's paths, so that no tenant's namespace can be one of these. */
export function tenantRegistry(settings: ClusterSettings): string {
  return `${registryHost(settings)}/apps`
}

/** The administrator's kubeconfig of the development cluster: the given one, or ours. */
export function adminKubeconfig(settings: ClusterSettings): string {
  return settings.givenKubeconfig ?? join(devClusterFolder(settings), 'kubeconfig')
}

/** The environment of the programs that dev/cluster starts: only what they need to find tools. */
export function toolEnvironment(extra: Environment = {}, environment: Environment = process.env): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (
      value !== undefined &&
      /^(PATH|HOME|LANG|TMPDIR|GO[A-Z]+|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|SSL_CERT_(FILE|DIR)|XDG_[A-Z_]+)$/.test(name)
    )
      passed[name] = value
  }
  for (const [name, value] of Object.entries(extra)) if (value !== undefined) passed[name] = value
  return passed
}
