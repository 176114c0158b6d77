// The settings of the controllers: one table, read once. All missing and invalid variables are reported together, by name.
import { isIPv4 } from 'node:net'
import { buildLogBounds } from '../api/tenancy/tenant.ts'
import { containsRange } from '../lib/address-range.ts'
import {
  choiceSetting,
  type Environment,
  integerSetting,
  listSetting,
  optional,
  portSetting,
  readSettings,
  type Setting,
  secretSetting,
  textSetting,
  urlSetting,
} from '../lib/config.ts'
import { digestPattern } from '../lib/text/image-digest.ts'
import { sharedSourceSettings } from '../services/builds/source-store/config.ts'
import { type FollowedRegistry, followedRegistry } from '../services/followed-tags/followed-registry.ts'
import { redirectAnnotationsSetting } from './application/domains/redirect-setting.ts'
import { metadataRanges, networkSettings, registryRange, runtimeSettings } from './tenant/index.ts'

/** Refuses an item of a list that has another form than `form` describes. */
function matching(pattern: RegExp, form: string): (item: string) => string {
  return item => {
    if (pattern.test(item)) return item
    throw new Error(`holds ${item.slice(0, 100)}; it must hold only ${form}`)
  }
}

/** `name=image`, or `name=name of a ClusterBuilder`. */
function builderItem(item: string): readonly [string, string] {
  const [, name, image] = /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)=(\S{1,512})$/.exec(item)?.filter((_, index) => index !== 2) ?? []
  if (name === undefined || image === undefined)
    throw new Error(
      `holds ${item.slice(0, 100)}; it must hold only builders such as paketo=docker.io/paketobuildpacks/builder-jammy-base:latest`,
    )
  return [name, image]
}

/** The form of a quantity as `spec.build.resources` has it. */
function quantitySetting(name: string, description: string, quantity: string): Setting<string> {
  const [pattern, form] = /[0-9]$/.test(quantity)
    ? ([/^[1-9][0-9]{0,6}m?$/, 'cores, such as 4 or 500m'] as const)
    : ([/^[1-9][0-9]{0,6}(Mi|Gi)$/, 'a quantity such as 512Mi or 8Gi'] as const)
  return { ...textSetting(name, description, { default: quantity }), parse: matching(pattern, form) }
}

/** Host, with a port or without. */
function isMetadataService(host: string): boolean {
  const address = registryRange(host)
  return address !== undefined && metadataRanges.some(range => containsRange(range, address.range))
}

/** A registry whose tags are followed. No metadata service of a cloud can be listed, neither as the registry nor as its token server. */
function listedRegistry(item: string): FollowedRegistry {
  const registry = followedRegistry(item)
  const refused = registry.tokenHosts.find(isMetadataService)
  if (refused === undefined) return registry
  throw new Error(`must not name ${refused}, which belongs to the metadata services of clouds`)
}

function podAddressSetting(name: string, description: string): Setting<string> {
  const parse = (text: string): string => {
    if (isIPv4(text)) return text
    throw new Error('must be an IPv4 address: the source server listens on IPv4')
  }
  return { ...textSetting(name, description), parse }
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
  certificateIssuers: listSetting(
    'SEKISHO_CERTIFICATE_ISSUERS',
    'the names of the ClusterIssuers of cert-manager, separated by commas, that Applications may name in spec.tls.certManager; none when not set',
    matching(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'names such as letsencrypt'),
  ),
  redirectAnnotations: redirectAnnotationsSetting,
  dataFolder: textSetting(
    'SEKISHO_DATA_FOLDER',
    'a folder of this process for the embedded database, and for fetched sources where the source store is its child',
    {
      default: '/var/lib/sekisho',
    },
  ),
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
  followedRegistries: listSetting(
    'SEKISHO_FOLLOWED_REGISTRIES',
    'the hosts of other registries, separated by commas, whose tags Applications may follow (spec.followTag), such as ghcr.io,docker.io; host=host names a token server at another host, and http:// a registry without TLS; none when not set',
    listedRegistry,
  ),
  followedTagSeconds: integerSetting(
    'SEKISHO_FOLLOWED_TAG_SECONDS',
    'the seconds between two requests about a followed tag (±10 %)',
    { minimum: 60, maximum: 86_400, default: '300' },
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
  admissionAuthorityCertificate: optional(
    textSetting(
      'SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE',
      'the PEM certificate of the authority that issues the serving certificate of the admission webhook; with it and its key the platform renews that certificate (docs/guide/admission.md)',
    ),
  ),
  admissionAuthorityKey: optional(
    secretSetting('SEKISHO_ADMISSION_AUTHORITY_KEY', 'the PKCS #8 PEM key of that authority, EC P-256'),
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
  builders: listSetting(
    'SEKISHO_BUILDERS',
    'further builders that RemoteSyncs and Tenants may name, separated by commas, as name=image or name=ClusterBuilder, such as paketo=docker.io/paketobuildpacks/builder-jammy-base:latest',
    builderItem,
  ),
  mostBuildCpu: quantitySetting('SEKISHO_BUILD_MAXIMUM_CPU', 'the most CPU that spec.build.resources may reserve', '4'),
  mostBuildMemory: quantitySetting(
    'SEKISHO_BUILD_MAXIMUM_MEMORY',
    'the most memory that spec.build.resources may give to a build',
    '8Gi',
  ),
  mostBuildStorage: quantitySetting(
    'SEKISHO_BUILD_MAXIMUM_STORAGE',
    'the most disk space that spec.build.resources may give to a build',
    '40Gi',
  ),
  buildkitImage: optional({
    ...textSetting(
      'SEKISHO_BUILDKIT_IMAGE',
      'the image with which Dockerfiles are built, by digest (docs/guide/dockerfile.md); without it RemoteSyncs with the strategy Dockerfile wait',
    ),
    parse: matching(
      new RegExp(`^[^@\\s]{1,255}@${digestPattern}$`),
      'an image by its digest, such as registry.example.com/cnb/buildkit@sha256:…',
    ),
  }),
  ingressClass: textSetting('SEKISHO_INGRESS_CLASS', 'the ingress class of Applications'),
  applicationUrl: urlSetting(
    'SEKISHO_APPLICATION_URL',
    'the URL of the ingress, such as https://apps.example.net; an Application is reachable at <name>.<namespace>.<host of this URL>',
  ),
  applicationTlsPort: portSetting(
    'SEKISHO_APPLICATION_TLS_PORT',
    'the port of the ingress for HTTPS, where SEKISHO_APPLICATION_URL is without TLS: in the URLs of Applications with spec.tls',
    { default: '443' },
  ),
  sourceUrl: urlSetting('SEKISHO_SOURCE_URL', 'the URL by which build pods reach the source store', {
    default: 'http://sekisho-source.sekisho-system.svc:8081',
  }),
  podAddress: optional(
    podAddressSetting(
      'SEKISHO_POD_ADDRESS',
      'the address of this pod (status.podIP): the leader writes it to the EndpointSlice of the Service sekisho-source; without it the Service needs endpoints of yours',
    ),
  ),
  nodeName: optional(textSetting('SEKISHO_NODE_NAME', 'the node of this pod (spec.nodeName), whose limits are then checked')),
  sourceSocket: optional(
    textSetting(
      'SEKISHO_SOURCE_SOCKET',
      'the unix socket of the source store in its own container; without it the controllers start the source store as a child process, which separates less',
    ),
  ),
  ...sharedSourceSettings,
  tokenDeskPort: portSetting('SEKISHO_TOKEN_DESK_PORT', 'the port of the token desk', { default: '8444' }),
  tokenDeskHost: textSetting('SEKISHO_TOKEN_DESK_HOST', 'the host name by which workloads reach the token desk', {
    default: 'sekisho-token-desk.sekisho-system.svc',
  }),
  tokenDeskAuthorityGeneration: integerSetting(
    'SEKISHO_TOKEN_DESK_AUTHORITY_GENERATION',
    'raise it by one to replace the authority of the token desk before its time (docs/guide/keys.md)',
    { minimum: 1, maximum: 10_000, default: '1' },
  ),
  appSecretsKeyGeneration: integerSetting(
    'SEKISHO_APP_SECRETS_KEY_GENERATION',
    'the generation of the key for values of AppSecrets; raise it by one to replace the key before its year is over',
    { minimum: 1, maximum: 1000, default: '1' },
  ),
  tokenDeskAuthorityOverlapHours: integerSetting(
    'SEKISHO_TOKEN_DESK_AUTHORITY_OVERLAP_HOURS',
    'how long workloads are given a new authority of the token desk before it is used; pods that read it only at their start must restart meanwhile',
    { minimum: 1, maximum: 2160, default: '720' },
  ),
  platformBuilds: integerSetting('SEKISHO_PLATFORM_BUILDS', 'builds that may run at once on the whole platform', {
    minimum: 1,
    maximum: 1000,
    default: '4',
  }),
  rebases: choiceSetting(
    'SEKISHO_REBASES',
    'whether images that were built with buildpacks get a newer run image of their builder without a build, while nobody builds: enabled or disabled (each gets it with its next build)',
    ['enabled', 'disabled'],
    { default: 'enabled' },
  ),
  buildLogMegabytes: integerSetting(
    'SEKISHO_BUILD_LOG_MEGABYTES',
    'the most text in megabytes that is kept of the log of one build: its beginning and its end',
    { minimum: 2, maximum: 64, default: '8' },
  ),
  buildLogTenantMegabytes: integerSetting(
    'SEKISHO_BUILD_LOG_TENANT_MEGABYTES',
    'the most that the build logs of one tenant may take in the database, compressed, in megabytes; the oldest are deleted first',
    { minimum: buildLogBounds.megabytes.min, maximum: buildLogBounds.megabytes.max, default: '256' },
  ),
  buildLogDays: integerSetting('SEKISHO_BUILD_LOG_DAYS', 'the days after which the log of a build that has ended is deleted', {
    minimum: buildLogBounds.days.min,
    maximum: buildLogBounds.days.max,
    default: '30',
  }),
  buildLogStreams: integerSetting(
    'SEKISHO_BUILD_LOG_STREAMS',
    'build logs that are read at once on the whole platform; those of one tenant are at most half of them',
    { minimum: 2, maximum: 1000, default: '40' },
  ),
  unusedImageHours: integerSetting(
    'SEKISHO_UNUSED_IMAGE_HOURS',
    'the hours after which an image in the registry that builds pushed and nothing names any more is deleted; it takes at most twice as long, and seconds for those of previews that have ended; 0 keeps all',
    { minimum: 0, maximum: 8760, default: '24' },
  ),
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
  ...runtimeSettings,
}

export type ControllersSettings = ReturnType<typeof readControllersSettings>

/** Throws `invalid_configuration` that names every variable at fault. */
export function readControllersSettings(environment: Environment) {
  return readSettings(controllersSettings, environment)
}
