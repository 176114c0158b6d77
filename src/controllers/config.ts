// The settings of the controllers: one table, read once. All missing and invalid variables are reported together, by name.
import {
  choiceSetting,
  type Environment,
  integerSetting,
  listSetting,
  optional,
  portSetting,
  readSettings,
  secretSetting,
  textSetting,
  urlSetting,
} from '../lib/config.ts'
import { networkSettings } from './tenant/index.ts'

/** Refuses an item of a list that has another form than `form` describes. */
function matching(pattern: RegExp, form: string): (item: string) => string {
  return item => {
    if (pattern.test(item)) return item
    throw new Error(`holds ${item.slice(0, 100)}; it must hold only ${form}`)
  }
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
    matching(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'host names in lower case, such as www.example.com'),
  ),
  dnsServers: listSetting(
    'SEKISHO_DNS_SERVERS',
    'the IP addresses of the DNS servers, separated by commas, that are asked for the records by which tenants prove their domains; those of the system when not set',
    matching(
      /^([0-9]{1,3}([.][0-9]{1,3}){3}|\[[0-9a-f:]+\])(:[0-9]{1,5})?$/,
      'IP addresses, such as 10.96.0.10, 10.96.0.10:53 or [fd00::a]:53',
    ),
  ),
  dataFolder: textSetting('SEKISHO_DATA_FOLDER', 'a folder of this process for fetched sources and the embedded database', {
    default: '/var/lib/sekisho',
  }),
  registry: textSetting(
    'SEKISHO_REGISTRY',
    'the registry and path that builds push images to, such as registry.example.com/apps',
  ),
  registryAuthentication: choiceSetting(
    'SEKISHO_REGISTRY_AUTHENTICATION',
    'who issues credentials for the registry: token-server (the platform, for a registry with token authentication), secret (the registry has accounts of its own, in Secrets that an admin makes for each tenant), or none (every client may read and replace the images of all tenants)',
    ['token-server', 'secret', 'none'],
  ),
  registryAliases: listSetting(
    'SEKISHO_REGISTRY_ALIASES',
    'other names of the host of the registry, separated by commas, by which a tenant could name images of another tenant',
    matching(/^[A-Za-z0-9.[\]:-]{1,255}$/, 'hosts such as registry.internal:5000'),
  ),
  registryPlatformPaths: listSetting(
    'SEKISHO_REGISTRY_PLATFORM_PATHS',
    'paths in the registry, separated by commas, with images that builds may pull and kpack may push: builder, stack and buildpacks (token-server only)',
    matching(/^[a-z0-9]+([._/-]+[a-z0-9]+)*$/, 'paths such as cnb'),
    { default: 'cnb,kpack' },
  ),
  registryService: textSetting('SEKISHO_REGISTRY_SERVICE', '`auth.token.service` of the registry (token-server only)', {
    default: 'sekisho-registry',
  }),
  registryAuthorityCertificate: optional(
    textSetting(
      'SEKISHO_REGISTRY_AUTHORITY_CERTIFICATE',
      'the PEM certificate of the authority that the registry trusts, the same as in `auth.token.rootcertbundle` of the registry (token-server only)',
    ),
  ),
  registryAuthorityKey: optional(
    secretSetting('SEKISHO_REGISTRY_AUTHORITY_KEY', 'the PKCS #8 PEM key of that authority, EC P-256 (token-server only)'),
  ),
  registryTokenPort: portSetting('SEKISHO_REGISTRY_TOKEN_PORT', 'the port of the token server of the registry', {
    default: '8445',
  }),
  registryTokenCertificatePath: textSetting(
    'SEKISHO_REGISTRY_TOKEN_CERTIFICATE_PATH',
    'a PEM file with the serving certificate of the token server, which nodes, builds and kpack must trust; reloaded when it changes',
    { default: '/etc/sekisho/tls/tls.crt' },
  ),
  registryTokenKeyPath: textSetting('SEKISHO_REGISTRY_TOKEN_KEY_PATH', 'a PEM file with the key of that certificate', {
    default: '/etc/sekisho/tls/tls.key',
  }),
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
  ...networkSettings,
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
