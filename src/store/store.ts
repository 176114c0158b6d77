// The store's ports: what each process keeps, one repository per aggregate, and no detail of the database. A process has the
// type of its own store, so that code of the broker cannot even name an installation token, nor code of the controllers a
// person. Secrets are in plain text in memory only: at rest every secret is sealed and every handle is hashed.

import type { AuditLog } from './audit/audit-log.ts'
import type { BuildLogs } from './builds/build-logs.ts'
import type { ImageRecords } from './builds/image-records.ts'
import type { KeptLogs } from './builds/kept-logs.ts'
import type { Attempts } from './database/attempts.ts'
import type { Inbox } from './inbox/inbox.ts'
import type { OidcRecords } from './oidc-records.ts'
import type { Onboardings } from './onboardings.ts'
import type { PlatformKeys } from './platform-keys.ts'
import type { Resealing } from './resealing/resealing.ts'
import type { Sessions } from './sessions.ts'
import type { TokenRegistry } from './token-registry.ts'
import type { Users } from './users.ts'

/** What every open store can do. */
type Opened = {
  /** True when the database answers within two seconds and accepts what this process writes. Never throws. */
  readonly healthy: () => Promise<boolean>
  /** Waits for writes in progress, then closes every connection. Idempotent. */
  readonly close: () => Promise<void>
}

/** What the broker keeps: people, webhooks, and its own keys. It reads build logs. */
export type BrokerStore = Opened & {
  readonly audit: AuditLog
  readonly inbox: Inbox
  readonly sessions: Sessions
  readonly onboardings: Onboardings
  readonly oidc: OidcRecords
  readonly users: Users
  readonly keys: PlatformKeys
  readonly attempts: Attempts
  /** What the controllers kept of builds; read only. */
  readonly keptLogs: KeptLogs
  /** Everything that this process sealed, whichever repository it belongs to. */
  readonly resealing: Resealing
}

/** What the controllers keep: installation tokens, build logs, what builds pushed, and their own keys. */
export type ControllersStore = Opened & {
  readonly audit: AuditLog
  readonly tokens: TokenRegistry
  readonly buildLogs: BuildLogs
  /** The same logs, to be read. */
  readonly keptLogs: KeptLogs
  /** What builds pushed to the registry. */
  readonly images: ImageRecords
  readonly keys: PlatformKeys
  /** Everything that this process sealed, whichever repository it belongs to. */
  readonly resealing: Resealing
}

/** The stores of a process that runs broker and controllers; both end with it. */
export type Store = Opened & { readonly broker: BrokerStore; readonly controllers: ControllersStore }
