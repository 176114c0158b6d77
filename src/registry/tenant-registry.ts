// What a tenant's namespaces need from the registry: the contents of the two Secrets with its credentials. The platform's own token server
// derives them; a registry with accounts of its own has them in Secrets that an admin makes in the platform's namespace.
import type { Secret } from '../api/builtin/index.ts'
import { registryGenerationAnnotation, registrySecrets } from '../api/names.ts'
import type { Tenant } from '../api/tenancy/tenant.ts'
import { asObject, objectAt, parseJson, textAt } from '../lib/json/json-value.ts'
import { SecretString } from '../lib/secret-string.ts'
import { type Credential, type CredentialTenant, dockerConfig, type RegistryCredentials } from './credentials.ts'
import { canonicalHost } from './image-place.ts'

/** The contents of the Secrets, in Docker's format. */
export type TenantCredentials =
  | { readonly kind: 'credentials'; readonly build: SecretString; readonly pull: SecretString }
  /** The registry asks for none: every tenant can read and replace all images. */
  | { readonly kind: 'open' }
  | { readonly kind: 'missing'; readonly message: string }

/** The port for the Tenant controller. */
export type TenantRegistry = {
  readonly credentialsOf: (tenant: Tenant) => TenantCredentials
  /** When credentials change by themselves; undefined when they do not. */
  readonly nextRotationMilliseconds: () => number | undefined
}

const configKey = '.dockerconfigjson'

export const openRegistry: TenantRegistry = {
  credentialsOf: () => ({ kind: 'open' }),
  nextRotationMilliseconds: () => undefined,
}

/** A tenant as its derived credentials depend on it. */
export function credentialTenant({ metadata, spec }: Tenant): CredentialTenant {
  const generation = metadata.annotations?.[registryGenerationAnnotation] ?? ''
  return { namespace: spec.namespace, uid: metadata.uid ?? '', generation }
}

/** Derived credentials for the registry at `host`. */
export function derivedTenantRegistry(
  host: string,
  credentials: Pick<RegistryCredentials, 'ofTenant' | 'nextRotationMilliseconds'>,
): TenantRegistry {
  return {
    credentialsOf(tenant) {
      const owner = credentialTenant(tenant)
      const config = (purpose: 'build' | 'pull') => dockerConfig(host, credentials.ofTenant(purpose, owner))
      return { kind: 'credentials', build: config('build'), pull: config('pull') }
    },
    nextRotationMilliseconds: credentials.nextRotationMilliseconds,
  }
}

/** `sekisho-registry-build.<namespace>` in the platform's namespace: a tenant's namespace has no dot, so no two tenants share a name. */
export function givenSecretName(purpose: 'build' | 'pull', namespace: string): string {
  return `${registrySecrets[purpose]}.${namespace}`
}

/** The namespace of the tenant whose credential the Secret holds; undefined for other Secrets. */
export function namespaceOfGivenSecret(name: string): string | undefined {
  const prefixes = [givenSecretName('build', ''), givenSecretName('pull', '')]
  const prefix = prefixes.find(each => name.startsWith(each))
  return prefix === undefined ? undefined : name.slice(prefix.length)
}

/** Credentials that an admin made; `secretOf` finds Secrets of the platform's namespace. */
export function givenTenantRegistry(secretOf: (name: string) => Secret | undefined): TenantRegistry {
  return {
    credentialsOf({ spec: { namespace } }) {
      const names = { build: givenSecretName('build', namespace), pull: givenSecretName('pull', namespace) }
      const build = configOf(secretOf(names.build))
      const pull = configOf(secretOf(names.pull))
      if (build !== undefined && pull !== undefined) return { kind: 'credentials', build, pull }
      const missing = build === undefined ? names.build : names.pull
      const message = `the registry credential is missing: create Secret ${missing} of type kubernetes.io/dockerconfigjson in namespace sekisho-system`
      return { kind: 'missing', message }
    },
    nextRotationMilliseconds: () => undefined,
  }
}

function configOf(secret: Secret | undefined): SecretString | undefined {
  const encoded = secret?.data?.[configKey]
  return encoded === undefined ? undefined : new SecretString(Buffer.from(encoded, 'base64').toString())
}

/** The account for a registry host in a Docker configuration; undefined when it has none. */
export function accountIn(config: SecretString | undefined, host: string): Credential | undefined {
  const auths = objectAt(config === undefined ? undefined : parseJson(config.reveal()), 'auths') ?? {}
  const entry = Object.entries(auths).find(
    ([key]) => canonicalHost(key.replace(/^https?:\/\//, '').replace(/\/.*$/, '')) === canonicalHost(host),
  )
  const found = asObject(entry?.[1])
  const [, name, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(textAt(found, 'auth') ?? '', 'base64').toString()) ?? []
  const username = textAt(found, 'username') ?? name
  const password = textAt(found, 'password') ?? secret
  return username === undefined || password === undefined ? undefined : { username, password: new SecretString(password) }
}

/** The `data` of a Secret of type kubernetes.io/dockerconfigjson. */
export function secretData(config: SecretString): Readonly<Record<string, string>> {
  return { [configKey]: Buffer.from(config.reveal()).toString('base64') }
}
