// The store as the processes see it: one repository per aggregate, and nothing of the database behind it.
// Whoever holds a Store holds secrets in memory only; at rest every secret is sealed and every handle is hashed.
import type { AuditLog } from './audit/audit-log.ts'
import type { Inbox } from './inbox/inbox.ts'
import type { OidcRecords } from './oidc-records.ts'
import type { Onboardings } from './onboardings.ts'
import type { PlatformKeys } from './platform-keys.ts'
import type { Sessions } from './sessions.ts'
import type { TokenRegistry } from './token-registry.ts'
import type { Users } from './users.ts'

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
  /** Waits for appends under way, then closes every connection. Idempotent. */
  readonly close: () => Promise<void>
}
