// The settings of the development platform: those of its pods (ConfigMap sekisho-settings), which are those of the process that
// `make dev` runs, too. Where a pod finds its Secrets its manifest says.
import { redirectAnnotations } from '../cluster/node/services/traefik.ts'
import type { ClusterSettings } from '../cluster/settings.ts'
import { githubHost, githubPort } from './github.ts'

export type PlatformAddresses = {
  readonly issuerUrl: string
  /** Where people reach the API server, and the file in which the platform finds its authority. */
  readonly apiServer: { readonly url: string; readonly authorityPath: string }
  readonly registry: string
  /** Other names of the registry's host. */
  readonly registryAliases: readonly string[]
  readonly ingressPort: number
  readonly ingressTlsPort: number
  readonly sourceUrl: string
  /** The image with which Dockerfiles are built, by digest. */
  readonly buildkitImage: string
  /** The image of the phases of builds with buildpacks, by digest. */
  readonly buildpacksImage: string
  /** Where Traefik's connections to pods come from, and where what is not a pod listens. */
  readonly node: { readonly address: string; readonly podGateway: string }
  /** Ports of the node that pods of tenants may reach besides those of GitHub and the registry. */
  readonly nodePorts?: { readonly applications: readonly number[]; readonly builds: readonly number[] }
}

/** Where the manifests of both forms mount the Secret of the controllers. */
export const mountedSecrets = '/etc/sekisho/secrets'
export const mountedRegistryAuthority = `${mountedSecrets}/registry-authority`

/** The user who administers the platform in development, by a ClusterRoleBinding. */
export const platformAdmin = { login: 'ada', subject: `github|${githubHost}|1006` }

/** `registryAuthority` is the path of the authority's files without their endings `.crt` and `.key`. */
export function platformSettings(addresses: PlatformAddresses, registryAuthority: string): Record<string, string> {
  const { node, nodePorts = { applications: [], builds: [] } } = addresses
  const atNode = (ports: readonly number[]): string => ports.map(port => `${node.address}/32:${port}`).join(',')
  return {
    SEKISHO_PUBLIC_URL: addresses.issuerUrl,
    SEKISHO_GITHUB_APP: 'github',
    // The users of the emulator are the only ones.
    SEKISHO_ACCOUNTS: 'any',
    SEKISHO_API_SERVER_URL: addresses.apiServer.url,
    SEKISHO_API_SERVER_CA_PATH: addresses.apiServer.authorityPath,
    SEKISHO_REGISTRY: addresses.registry,
    SEKISHO_REGISTRY_AUTHENTICATION: 'token-server',
    SEKISHO_REGISTRY_ALIASES: addresses.registryAliases.join(','),
    SEKISHO_REGISTRY_AUTHORITY_CERTIFICATE_FILE: `${registryAuthority}.crt`,
    SEKISHO_REGISTRY_AUTHORITY_KEY_FILE: `${registryAuthority}.key`,
    SEKISHO_REGISTRY_TOKEN_CERTIFICATE_PATH: '/etc/sekisho/registry-tokens/tls.crt',
    SEKISHO_REGISTRY_TOKEN_KEY_PATH: '/etc/sekisho/registry-tokens/tls.key',
    SEKISHO_BUILDKIT_IMAGE: addresses.buildkitImage,
    SEKISHO_BUILDPACKS_IMAGE: addresses.buildpacksImage,
    SEKISHO_INGRESS_CLASS: 'traefik',
    SEKISHO_REDIRECT_ANNOTATIONS: redirectAnnotations,
    SEKISHO_INGRESS_FROM: `${node.address}/32,${node.podGateway}/32`,
    SEKISHO_APPLICATION_EGRESS: atNode([githubPort, ...nodePorts.applications]),
    SEKISHO_BUILD_EGRESS: atNode(nodePorts.builds),
    SEKISHO_APPLICATION_URL: `http://localhost:${addresses.ingressPort}`,
    SEKISHO_APPLICATION_TLS_PORT: String(addresses.ingressTlsPort),
    SEKISHO_SOURCE_URL: addresses.sourceUrl,
    // The emulator has no hourly limit: a webhook that was lost while the platform restarted arrives a minute later.
    SEKISHO_REDELIVERY_SECONDS: '15',
    // The demo waits for the alarm about a wall.
    SEKISHO_WALL_PROBE_SECONDS: '15',
    SEKISHO_LOG_LEVEL: 'info',
  }
}

/** The registry listens on the node address alone; these are its other spellings in the cluster. */
export function registryAliases({ nodeName, registryPort }: ClusterSettings): readonly string[] {
  return [`${nodeName}:${registryPort}`, `localhost:${registryPort}`]
}

export function apiServerUrl(settings: ClusterSettings): string {
  return `https://${settings.nodeAddress}:${settings.ports.apiServer}`
}
