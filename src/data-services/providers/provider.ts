// A provider is where the services of a class are made: how its account is read, how it is reached, and whether it can be
// shared. What a credential in it is, the folder `credentials` says.
import type { ServiceType } from '../../api/services/provider.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { CountStatement, Server } from '../adapters/postgresql/server.ts'
import type { ServerFacts } from '../adapters/postgresql/server-check.ts'
import type { Store } from '../adapters/s3/store.ts'
import type { Capabilities } from '../adapters/s3/store-check.ts'

export type OpenDatabases = {
  readonly type: 'postgresql'
  readonly server: Server
  readonly host: string
  readonly port: number
  /** Undefined: connections are not encrypted. */
  readonly tls: { readonly ca: string | undefined } | undefined
}
export type OpenStore = {
  readonly type: 'bucket'
  readonly store: Store
  readonly endpoint: string
  readonly region: string
  /** Undefined: what the operating system trusts. */
  readonly ca: string | undefined
}
/** A server of a class, as its administrator. */
export type OpenServer = OpenDatabases | OpenStore

/** What a server said of itself. */
export type Answer =
  | ({ readonly type: 'postgresql' } & ServerFacts)
  | { readonly type: 'bucket'; readonly capabilities: Capabilities }

/** The values of the administrator's Secret, by its keys. */
export type Account = Readonly<Record<string, SecretString>>

export type ServerAccess = {
  readonly account: Account
  /** The authority in PEM; undefined: what the operating system trusts. */
  readonly ca: string | undefined
  /** Called for each statement to a PostgreSQL server. */
  readonly count?: CountStatement | undefined
}

export type Provider<T extends ServiceType = ServiceType> = {
  /** The keys that the administrator's Secret must have. */
  readonly accountKeys: readonly string[]
  /** The names of the Secrets in `sekisho-data`. */
  readonly secretsOf: (serviceClass: ServiceClass) => { readonly account: string; readonly authority: string | undefined }
  /** Opens nothing yet. `account` has all of `accountKeys`. */
  readonly connect: (serviceClass: ServiceClass, access: ServerAccess) => Extract<OpenServer, { type: T }>
  /** Rejects with what the adapter rejects with. */
  readonly check: (opened: Extract<OpenServer, { type: T }>) => Promise<Answer>
  /** Ends what the platform keeps there for itself. Rejects as `check` does. */
  readonly leave: (opened: Extract<OpenServer, { type: T }>) => Promise<void>
  readonly close: (opened: Extract<OpenServer, { type: T }>) => Promise<void>
}

/** One value of an account or key that is complete. */
export function secretIn(values: Readonly<Record<string, SecretString>>, name: string): SecretString {
  const value = values[name]
  if (value === undefined) throw new Error(`${name} is missing`)
  return value
}
