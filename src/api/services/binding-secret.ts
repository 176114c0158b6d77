// The Secret behind a ServiceBinding: its name, type and keys, on which the process that writes it, those that render pods and
// the walls around it agree. The keys are those of servicebinding.io, so that libraries that know it find them.
// Source: https://servicebinding.io/spec/core/1.1.0/#well-known-secret-entries
import { domain } from '../kind.ts'

/** Secrets whose names begin with this hold credentials of services; only data-services changes them, nobody reads them. */
export const bindingSecretPrefix = 'binding-'

/** Of a ServiceBinding: with the prefix, a name of at most 63 characters, which a volume can have. */
export const maxBindingName = 55

/** The name of the Secret that holds the credential of the ServiceBinding of that name, for pods of the same namespace. */
export function bindingSecretName(binding: string): string {
  return `${bindingSecretPrefix}${binding}`
}

/** The type of the Secret, by the type of the service. */
export const bindingSecretType = { postgresql: 'servicebinding.io/postgresql' } as const

/** The value of the key `provider`. */
export const bindingProvider = 'sekisho'

/** On the Secret: `status.version` of its ServiceBinding, with the credential that it holds. */
export const bindingVersionAnnotation = `${domain}/binding-version`

/**
 * On a ServiceBinding that an Application owns, from the controllers: the version of the credential that all its pods have, and
 * every command of `sekisho run` for it. An earlier one ends when nobody is connected by it.
 */
export const rolledOutAnnotation = `${domain}/rolled-out-version`

/** The keys that the Secret always has. With a private authority it also has `ca.crt`. */
export const bindingSecretKeys = [
  'type',
  'provider',
  'host',
  'port',
  'database',
  'username',
  'password',
  'uri',
  'jdbc-url',
  'sslmode',
] as const

/** Those that are secret: the others may stand in messages. */
export const confidentialBindingKeys = ['password', 'uri', 'jdbc-url'] as const

/** The key with the certificates that sign the one of the server. */
export const bindingAuthorityKey = 'ca.crt'
