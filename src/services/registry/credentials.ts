// The credentials of tenants and of kpack for the registry: derived from one key of the platform, so none is stored and none
// can be forgotten. A credential ends when its tenant is gone, when a platform admin changes the tenant's generation, or with
// its period of 30 days. Checking one costs a few hashes and no request.
import { createHmac } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import { SecretString } from '../../lib/secret-string.ts'

/** Whom a credential belongs to, and what for. */
export type Holder =
  | { readonly purpose: 'build' | 'pull'; readonly namespace: string }
  /** kpack: it builds the platform's builder image. */
  | { readonly purpose: 'platform' }

/** A tenant as its credentials depend on it. `generation` is any text; another one makes other credentials. */
export type CredentialTenant = { readonly namespace: string; readonly uid: string; readonly generation: string }

export type Credential = { readonly username: string; readonly password: SecretString }

export type RegistryCredentials = {
  /** The present credential of a tenant. Equal until its period or its generation ends. */
  readonly ofTenant: (purpose: 'build' | 'pull', tenant: CredentialTenant) => Credential
  readonly ofPlatform: () => Credential
  /** The holder of a credential; undefined when it is not valid (any more). */
  readonly verify: (username: string, password: string) => Holder | undefined
  /** How long the present credentials stay the present ones: then they have to be written again. */
  readonly nextRotationMilliseconds: () => number
}

type CredentialDeps = {
  /** At least 32 random bytes. */
  readonly key: SecretString
  /** The tenants of a namespace that are not being deleted. */
  readonly tenantsOf: (namespace: string) => readonly CredentialTenant[]
  readonly clock: Clock
}

const hour = 3_600_000
const periodMilliseconds = 30 * 24 * hour
/** The credential of the former period is accepted this long, until the new one has been written everywhere. */
const overlapMilliseconds = 24 * hour
const maxPart = 200
const platformUsername = 'platform'

/** `build.<namespace>` or `pull.<namespace>`: a namespace is a DNS label, so the first dot separates. */
const tenantUsername = /^(build|pull)\.([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$/

export function createRegistryCredentials({ key, tenantsOf, clock }: CredentialDeps): RegistryCredentials {
  const password = (period: number, ...parts: readonly string[]): SecretString => {
    const text = canonicalJson(['registry-credential', period, ...parts])
    return new SecretString(`skr_${createHmac('sha256', key.reveal()).update(text).digest('base64url')}`)
  }
  const present = (): number => Math.floor(clock.now().getTime() / periodMilliseconds)
  const accepted = (): readonly number[] => {
    const now = clock.now().getTime()
    const period = present()
    return now - period * periodMilliseconds < overlapMilliseconds ? [period, period - 1] : [period]
  }
  const partsOf = (purpose: string, { uid, generation }: CredentialTenant): readonly string[] => [purpose, uid, generation]
  const matches = (given: string, parts: readonly string[]): boolean =>
    accepted().some(period => password(period, ...parts).equals(given))

  return {
    ofTenant: (purpose, tenant) => ({
      username: `${purpose}.${tenant.namespace}`,
      password: password(present(), ...partsOf(purpose, tenant)),
    }),
    ofPlatform: () => ({ username: platformUsername, password: password(present(), platformUsername) }),
    verify(username, given) {
      if (username.length > maxPart || given.length > maxPart) return undefined
      if (username === platformUsername) return matches(given, [platformUsername]) ? { purpose: 'platform' } : undefined
      const [, purpose, namespace] = tenantUsername.exec(username) ?? []
      if ((purpose !== 'build' && purpose !== 'pull') || namespace === undefined) return undefined
      return tenantsOf(namespace).some(tenant => matches(given, partsOf(purpose, tenant))) ? { purpose, namespace } : undefined
    },
    nextRotationMilliseconds: () => (present() + 1) * periodMilliseconds - clock.now().getTime(),
  }
}

/** The content of a Secret of type kubernetes.io/dockerconfigjson. */
export function dockerConfig(registryHost: string, { username, password }: Credential): SecretString {
  const plain = password.reveal()
  const auth = Buffer.from(`${username}:${plain}`).toString('base64')
  return new SecretString(JSON.stringify({ auths: { [registryHost]: { username, password: plain, auth } } }))
}
