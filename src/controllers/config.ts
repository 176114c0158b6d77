// The settings of the controllers' process, with those of its services: one table, read once. All missing and invalid variables
// are reported together, by name.
import { containsRange } from '../lib/address-range.ts'
import {
  type Environment,
  integerSetting,
  listSetting,
  matching,
  optional,
  portSetting,
  readSettings,
  secretSetting,
  textSetting,
  urlSetting,
} from '../lib/config.ts'
import { accessRecordsSettings } from '../services/access-records/config.ts'
import { buildSettings } from '../services/builds/config.ts'
import { type FollowedRegistry, followedRegistry } from '../services/followed-tags/followed-registry.ts'
import { gitProxySettings } from '../services/git-proxy/config.ts'
import { registrySettings } from '../services/registry/config.ts'
import { tokenDeskSettings } from '../services/token-desk/config.ts'
import { wallProbeSettings } from '../services/wall-probe/config.ts'
import { redirectAnnotationsSetting } from './application/domains/redirect-setting.ts'
import { metadataRanges, networkSettings, registryRange, runtimeSettings } from './tenant/index.ts'

/** Host, with a port or without. */
function isMetadataService(host: string): boolean {
  const address = registryRange(host)
  return address !== undefined && metadataRanges.some(range => containsRange(range, address.range))
}

/**
 * A registry whose tags are followed. No metadata service of a cloud can be listed, neither as the registry nor as its token
 * server.
 */
function listedRegistry(item: string): FollowedRegistry {
  const registry = followedRegistry(item)
  const refused = registry.tokenHosts.find(isMetadataService)
  if (refused === undefined) return registry
  throw new Error(`must not name ${refused}, which belongs to the metadata services of clouds`)
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
  admissionAuthorityCertificate: optional(
    textSetting(
      'SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE',
      'the PEM certificate of the authority that issues the serving certificate of the admission webhook; with it and its key the platform renews that certificate (docs/guide/admission.md)',
    ),
  ),
  admissionAuthorityKey: optional(
    secretSetting('SEKISHO_ADMISSION_AUTHORITY_KEY', 'the PKCS #8 PEM key of that authority, EC P-256'),
  ),
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
  nodeName: optional(textSetting('SEKISHO_NODE_NAME', 'the node of this pod (spec.nodeName), whose limits are then checked')),
  appSecretsKeyGeneration: integerSetting(
    'SEKISHO_APP_SECRETS_KEY_GENERATION',
    'the generation of the key for values of AppSecrets; raise it by one to replace the key before its year is over',
    { minimum: 1, maximum: 1000, default: '1' },
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
  ...registrySettings,
  ...buildSettings,
  ...tokenDeskSettings,
  ...gitProxySettings,
  ...accessRecordsSettings,
  ...wallProbeSettings,
  ...networkSettings,
  ...runtimeSettings,
}

export type ControllersSettings = ReturnType<typeof readControllersSettings>

/** Throws `invalid_configuration` that names every variable at fault. */
export function readControllersSettings(environment: Environment) {
  return readSettings(controllersSettings, environment)
}
