// What a tenant's namespaces need from the registry: the contents of the two Secrets with its credentials. The platform's own
// token server derives them; a registry with accounts of its own has them in Secrets that an admin makes in the platform's
// namespace.
import type { NamedSecret, ReadNamedSecret } from '../../api/named-secret.ts'
import { registryGenerationAnnotation, registrySecrets } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { asObject, objectAt, parseJson, textAt } from '../../lib/json/json-value.ts'
import { SecretString } from '../../lib/secret-string.ts'
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
  /** Rejects with KubeError when they are in Secrets and the API server does not answer. */
  readonly credentialsOf: (tenant: Tenant) => Promise<TenantCredentials>
  /** When credentials change by themselves; undefined when they do not. */
  readonly nextRotationMilliseconds: () => number | undefined
}

const configKey = '.dockerconfigjson'

export const openRegistry: TenantRegistry = {
  credentialsOf: async () => ({ kind: 'open' }),
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
    async credentialsOf(tenant) {
      const owner = credentialTenant(tenant)
      const config = (purpose: 'build' | 'pull') => dockerConfig(host, credentials.ofTenant(purpose, owner))
      return { kind: 'credentials', build: config('build'), pull: config('pull') }
    },
    nextRotationMilliseconds: credentials.nextRotationMilliseconds,
  }
}

/**
 * `sekisho-registry-build.<namespace>` in the platform's namespace: a tenant's namespace has no dot, so no two tenants share a
 * name.
 */
export function givenSecretName(purpose: 'build' | 'pull', namespace: string): string {
  return `${registrySecrets[purpose]}.${namespace}`
}

/** Credentials that an admin made; `secretOf` reads a Secret of the platform's namespace. */
export function givenTenantRegistry(secretOf: ReadNamedSecret): TenantRegistry {
  return {
    async credentialsOf({ spec: { namespace } }) {
      const names = { build: givenSecretName('build', namespace), pull: givenSecretName('pull', namespace) }
      const [build, pull] = await Promise.all([secretOf(names.build), secretOf(names.pull)])
      const [buildConfig, pullConfig] = [configOf(build), configOf(pull)]
      if (buildConfig !== undefined && pullConfig !== undefined)
        return { kind: 'credentials', build: buildConfig, pull: pullConfig }
      const [name, { kind }] = buildConfig === undefined ? [names.build, build] : [names.pull, pull]
      return { kind: 'missing', message: kind === 'forbidden' ? forbidden(name) : missing(name) }
    },
    nextRotationMilliseconds: () => undefined,
  }
}

function missing(name: string): string {
  return `the registry credential is missing: create Secret ${name} of type kubernetes.io/dockerconfigjson in namespace sekisho-system`
}

function forbidden(name: string): string {
  return `the platform may not read Secret ${name} in namespace sekisho-system: give its ServiceAccount a Role with get on this name`
}

function configOf(answer: NamedSecret): SecretString | undefined {
  const encoded = answer.kind === 'found' ? answer.secret.data?.[configKey] : undefined
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
