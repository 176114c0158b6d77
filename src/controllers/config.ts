// The settings of the controllers: one table, read once. All missing and invalid variables are reported together, by name.
import { isIP } from 'node:net'
import {
  type Environment,
  integerSetting,
  optional,
  portSetting,
  readSettings,
  type Setting,
  textSetting,
  urlSetting,
} from '../lib/config.ts'

/** A list separated by commas; `problemOf` says what is wrong with an item. */
function listSetting(
  name: string,
  description: string,
  problemOf: (item: string) => string | undefined,
): Setting<readonly string[]> {
  const parse = (text: string): readonly string[] => {
    const items = text
      .split(',')
      .map(item => item.trim())
      .filter(item => item !== '')
    const problem = items.map(problemOf).find(found => found !== undefined)
    if (problem !== undefined) throw new Error(problem)
    return items
  }
  return { name, description, kind: 'list', default: '', parse }
}

function hostProblem(item: string): string | undefined {
  const isHost = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(item)
  return isHost ? undefined : `holds ${item.slice(0, 100)}; it must hold only host names in lower case, such as www.example.com`
}

function serverProblem(item: string): string | undefined {
  const address = /^\[(.+)\](:[0-9]{1,5})?$/.exec(item)?.[1] ?? (isIP(item) === 0 ? item.replace(/:[0-9]{1,5}$/, '') : item)
  return isIP(address) === 0
    ? `holds ${item.slice(0, 100)}; it must hold only IP addresses, such as 10.96.0.10 or 10.96.0.10:53`
    : undefined
}

export const controllersSettings = {
  publicUrl: urlSetting(
    'SEKISHO_PUBLIC_URL',
    'where people and API servers reach the broker, such as https://sekisho.example.com; Applications cannot have this host or one above or below it',
  ),
  apiServerUrl: optional(
    urlSetting('SEKISHO_API_SERVER_URL', 'where people reach the Kubernetes API server; Applications cannot have this host'),
  ),
  reservedHosts: listSetting(
    'SEKISHO_RESERVED_HOSTS',
    'further host names, separated by commas, that Applications cannot have, with all names above and below them',
    hostProblem,
  ),
  dnsServers: listSetting(
    'SEKISHO_DNS_SERVERS',
    'the IP addresses of the DNS servers, separated by commas, that are asked for the records by which tenants prove their domains; those of the system when not set',
    serverProblem,
  ),
  dataFolder: textSetting('SEKISHO_DATA_FOLDER', 'a folder of this process for fetched sources and the embedded database', {
    default: '/var/lib/sekisho',
  }),
  registry: textSetting(
    'SEKISHO_REGISTRY',
    'the registry and path that builds push images to, such as registry.example.com/apps',
  ),
  clusterBuilder: textSetting('SEKISHO_CLUSTER_BUILDER', 'the kpack ClusterBuilder', { default: 'sekisho' }),
  ingressClass: textSetting('SEKISHO_INGRESS_CLASS', 'the ingress class of Applications'),
  applicationUrl: urlSetting(
    'SEKISHO_APPLICATION_URL',
    'the URL of the ingress, such as https://apps.example.com; an Application is reachable at <name>.<namespace>.<host of this URL>',
  ),
  sourceUrl: urlSetting('SEKISHO_SOURCE_URL', 'the URL by which build pods reach the source store', {
    default: 'http://sekisho-source.sekisho-system.svc:8081',
  }),
  sourcePort: portSetting('SEKISHO_SOURCE_PORT', 'the port of the source store', { default: '8081' }),
  tokenDeskPort: portSetting('SEKISHO_TOKEN_DESK_PORT', 'the port of the token desk', { default: '8444' }),
  tokenDeskHost: textSetting('SEKISHO_TOKEN_DESK_HOST', 'the host name by which workloads reach the token desk', {
    default: 'sekisho-token-desk.sekisho-system.svc',
  }),
  platformBuilds: integerSetting('SEKISHO_PLATFORM_BUILDS', 'builds that may run at once on the whole platform', {
    minimum: 1,
    maximum: 1000,
    default: '4',
  }),
  sweepSeconds: integerSetting(
    'SEKISHO_SWEEP_SECONDS',
    'the longest time in seconds between two checks of a RemoteSync on GitHub when no webhook arrives',
    {
      minimum: 30,
      maximum: 86_400,
      default: '300',
    },
  ),
  redeliverySeconds: integerSetting(
    'SEKISHO_REDELIVERY_SECONDS',
    'the seconds between two searches for webhooks that GitHub could not deliver',
    { minimum: 10, maximum: 86_400, default: '300' },
  ),
  sourceMegabytes: integerSetting('SEKISHO_SOURCE_MEGABYTES', 'the maximum size of one fetched commit in MiB', {
    minimum: 1,
    maximum: 10_000,
    default: '500',
  }),
}

export type ControllersSettings = ReturnType<typeof readControllersSettings>

/** Throws `invalid_configuration` that names every variable at fault. */
export function readControllersSettings(environment: Environment) {
  return readSettings(controllersSettings, environment)
}
