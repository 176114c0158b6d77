// The Secrets in tenants' namespaces that are the platform's, by the prefixes of their names, and the names of those with GitHub
// tokens, which say who may refer to them (docs/adr/0093-a-token-in-a-secret.md). Data and pure functions.
import { appSecretPrefix, buildSecretPrefix, registrySecretPrefix, reservedSecretPrefix } from './names.ts'
import { bindingSecretPrefix } from './services/binding-secret.ts'

/** Nobody of a tenant reads or writes Secrets with such names by the Kubernetes API. */
export const reservedSecretPrefixes = [reservedSecretPrefix, registrySecretPrefix, appSecretPrefix, bindingSecretPrefix] as const

/** As people read it: `ghtok-… or appsecret-…`. */
export const reservedSecretNames = reservedSecretPrefixes.map(prefix => `${prefix}…`).join(' or ')

/** Whether the name is the platform's. */
export function isReservedSecretName(name: string): boolean {
  return reservedSecretPrefixes.some(prefix => name.startsWith(prefix))
}

/** The values of one build. Only in build namespaces is the name the platform's. */
export function isBuildSecret(namespace: string, name: string): boolean {
  return namespace.endsWith('-build') && name.startsWith(buildSecretPrefix)
}

/** Between the ServiceAccount and the grant: the last one of a name, because names of such grants have none. */
const separator = '.'

/** Of a ServiceAccount that such a grant names as its subject: with the grant, a name of at most 253 characters. */
export const maxTokenSecretAccount = 150

/**
 * The Secret with the token of one subject of a RepositoryGrant: only pods under that ServiceAccount may refer to it, and
 * admission knows that by the name alone.
 */
export function tokenSecretName(account: string, grant: string): string {
  return `${reservedSecretPrefix}${account}${separator}${grant}`
}

/** Whether the name is that of a Secret with a token for pods under this ServiceAccount. */
export function isTokenSecretOf(account: string, name: string): boolean {
  const begin = `${reservedSecretPrefix}${account}${separator}`
  return account !== '' && name.startsWith(begin) && !name.slice(begin.length).includes(separator)
}

/** The CEL twin of `isTokenSecretOf`; both are CEL expressions. `account` may be an empty text. */
export function isTokenSecretOfExpression(account: string, name: string): string {
  const begin = `'${reservedSecretPrefix}' + ${account} + '${separator}'`
  return `(${account} != '' && ${name}.startsWith(${begin}) && ${name}.lastIndexOf('${separator}') == ${reservedSecretPrefix.length} + ${account}.size())`
}

/** Where pods find such a token, as the platform mounts it: a folder for each grant. */
export const tokenFiles = {
  folder: '/var/run/sekisho-tokens',
  /** Volumes whose names begin with this are the platform's. */
  volumePrefix: 'sekisho-token-',
} as const
