// The store's port: one repository per aggregate, and no detail of the database.
// Secrets are in plain text in memory only: at rest every secret is sealed and every handle is hashed.
import type { AuditLog } from './audit/audit-log.ts'
import type { Inbox } from './inbox/inbox.ts'
import type { OidcRecords } from './oidc-records.ts'
import type { Onboardings } from './onboardings.ts'
import type { PlatformKeys } from './platform-keys.ts'
import type { Sessions } from './sessions.ts'
import type { TokenRegistry } from './token-registry.ts'
import type { Users } from './users.ts'

/** Every repository of the platform. */
export type Store = {
  readonly audit: AuditLog
  readonly tokens: TokenRegistry
  readonly inbox: Inbox
  readonly sessions: Sessions
  readonly onboardings: Onboardings
  readonly oidc: OidcRecords
  readonly users: Users
  readonly keys: PlatformKeys
  /** True when the database answers a query within two seconds. Never throws. */
  readonly healthy: () => Promise<boolean>
  /** Waits for writes in progress, then closes every connection. Idempotent. */
  readonly close: () => Promise<void>
}
