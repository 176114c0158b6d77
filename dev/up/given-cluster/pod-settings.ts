// The ConfigMap that all pods of a platform on a cluster of the user's read. Pure.
import { parseGivenRegistry } from '../../images/registry/given-registry.ts'
import { githubPort } from '../github.ts'
import { admissionAuthorityFiles } from '../secrets/platform-secrets.ts'
import { mountedRegistryAuthority, mountedSecrets } from '../settings-map.ts'
import type { Plan } from './decision/plan.ts'

export function givenPodSettings({
  broker,
  github,
  accounts,
  apiServer,
  registry,
  ingress,
  builder,
  platformSettings,
}: Plan): Record<string, string> {
  const { prefix } = parseGivenRegistry(registry.reference)
  return {
    SEKISHO_PUBLIC_URL: broker.url.origin,
    SEKISHO_GITHUB_APP: github.kind === 'emulator' ? 'github' : github.name,
    ...(accounts === null ? {} : { SEKISHO_ACCOUNTS: accounts }),
    SEKISHO_API_SERVER_URL: apiServer.url,
    SEKISHO_API_SERVER_CA_PATH: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
    SEKISHO_REGISTRY: `${registry.reference}/apps`,
    SEKISHO_REGISTRY_AUTHENTICATION: registry.authentication,
    SEKISHO_REGISTRY_PLATFORM_PATHS: `${prefix}cnb,${prefix}kpack`,
    ...(registry.authentication === 'token-server' ? tokenServer : {}),
    ...admissionAuthority,
    SEKISHO_CLUSTER_BUILDER: builder.name,
    SEKISHO_INGRESS_CLASS: ingress.className,
    SEKISHO_INGRESS_FROM: ingress.from,
    SEKISHO_APPLICATION_URL: ingress.applicationUrl.origin,
    ...(github.kind === 'emulator' ? { SEKISHO_APPLICATION_EGRESS: `${github.address}/32:${githubPort}` } : {}),
    ...platformSettings,
  }
}

/** Those of the user's that other settings of `make up` decide. */
export function decidedTwice(plan: Plan): readonly string[] {
  const decided = givenPodSettings({ ...plan, platformSettings: {} })
  return Object.keys(plan.platformSettings).filter(name => Object.hasOwn(decided, name))
}

/** The controllers renew the certificate of the webhook: nobody comes back to do it. */
const admissionAuthority = {
  SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE_FILE: `${mountedSecrets}/${admissionAuthorityFiles.certificate}`,
  SEKISHO_ADMISSION_AUTHORITY_KEY_FILE: `${mountedSecrets}/${admissionAuthorityFiles.key}`,
}

const tokenServer = {
  SEKISHO_REGISTRY_AUTHORITY_CERTIFICATE_FILE: `${mountedRegistryAuthority}.crt`,
  SEKISHO_REGISTRY_AUTHORITY_KEY_FILE: `${mountedRegistryAuthority}.key`,
  SEKISHO_REGISTRY_TOKEN_CERTIFICATE_PATH: '/etc/sekisho/registry-tokens/tls.crt',
  SEKISHO_REGISTRY_TOKEN_KEY_PATH: '/etc/sekisho/registry-tokens/tls.key',
}
