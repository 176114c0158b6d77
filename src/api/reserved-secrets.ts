// Which Secrets are the platform's by their names. Data: admission refuses writes of them, and the authorizer reads.
import { appSecretPrefix, buildSecretPrefix, registrySecretPrefix, reservedSecretPrefix } from './names.ts'

/** With what the names of the platform's Secrets begin, in whichever namespace they are. */
export const reservedSecretPrefixes = [reservedSecretPrefix, registrySecretPrefix, appSecretPrefix] as const

/** As people read it: `ghtok-… or appsecret-…`. */
export const reservedSecretNames = reservedSecretPrefixes.map(prefix => `${prefix}…`).join(' or ')

export function isReservedSecret(name: string): boolean {
  return reservedSecretPrefixes.some(prefix => name.startsWith(prefix))
}

/** The values of one build. Only in build namespaces is the name the platform's. */
export function isBuildSecret(namespace: string, name: string): boolean {
  return namespace.endsWith('-build') && name.startsWith(buildSecretPrefix)
}
