// Opens the store: connects, migrates, and creates one repository per aggregate, each with a sealing key of its own purpose.
// The only constructor of a Store. With `auditUrl` the log is written by a database role that can only INSERT and SELECT (deploy/postgres).
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { SecretString } from '../lib/secret-string.ts'
import { createAuditLog } from './audit/audit-log.ts'
import { connectServer, type Database, openEmbedded } from './database/database.ts'
import { migrate } from './database/migrate.ts'
import { createInbox } from './inbox/inbox.ts'
import { createLeases } from './leases.ts'
import { createOidcRecords } from './oidc-records.ts'
import { createOnboardings } from './onboardings.ts'
import { createPlatformKeys } from './platform-keys.ts'
import { createSealer } from './seal.ts'
import { createSessions } from './sessions.ts'
import type { Store } from './store.ts'
import { createTokenRegistry } from './token-registry.ts'
import { createUsers } from './users.ts'

/** Exactly one of `url` (PostgreSQL) and `dataFolder` (embedded PGlite; `memory://` stores nothing on disk). */
export type StoreLocation =
  | { readonly url: SecretString; readonly auditUrl?: SecretString; readonly dataFolder?: never }
  | { readonly dataFolder: string; readonly url?: never; readonly auditUrl?: never }

/** Where the store is, and what it needs. */
export type StoreOptions = StoreLocation & {
  /** 32 bytes each in base64; the first seals, all open. */
  readonly sealingKeys: readonly SecretString[]
  readonly clock: Clock
  readonly log: Log
}

const healthMilliseconds = 2000

/** Opens the database, applies missing migrations and returns the repositories. Errors name the cure and never contain the URL. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { sealingKeys, clock, log } = options
  const seal = (purpose: string) => createSealer(sealingKeys, purpose)
  const sealers = {
    tokens: seal('installation-token'),
    sessions: seal('session'),
    oidc: seal('oidc'),
    users: seal('user-token'),
    keys: seal('platform-key'),
  }
  const databases = await openDatabases(options)
  const { prisma, pool } = databases.main
  const audit = createAuditLog({ pool: databases.audit.pool, clock })
  const inbox = createInbox({ pool, clock })
  const leases = createLeases({ prisma, clock })
  return {
    audit,
    tokens: createTokenRegistry({ prisma, sealer: sealers.tokens, clock }),
    inbox,
    sessions: createSessions({ prisma, sealer: sealers.sessions, clock }),
    onboardings: createOnboardings({ prisma, clock, leases }),
    oidc: createOidcRecords({ prisma, sealer: sealers.oidc, clock }),
    users: createUsers({ prisma, sealer: sealers.users, clock, leases }),
    keys: createPlatformKeys({ prisma, sealer: sealers.keys, clock }),
    healthy: async () => (await Promise.all([answers(databases.main), answers(databases.audit)])).every(Boolean),
    async close() {
      await Promise.all([audit.settled(), inbox.settled()])
      await databases.audit.close()
      await databases.main.close()
      log.debug({}, 'store closed')
    },
  }
}

type Databases = { readonly main: Database; readonly audit: Database }

async function openDatabases(options: StoreOptions): Promise<Databases> {
  const { log } = options
  const main = options.url === undefined ? await openEmbedded(options.dataFolder, log) : connectServer(options.url, log)
  try {
    await migrate(main.pool, log)
    return { main, audit: options.auditUrl === undefined ? main : connectServer(options.auditUrl, log) }
  } catch (error) {
    await main.close()
    throw error
  }
}

async function answers(database: Database): Promise<boolean> {
  const late = AbortSignal.timeout(healthMilliseconds)
  const tooLate = new Promise<boolean>(resolve => late.addEventListener('abort', () => resolve(false), { once: true }))
  const query = database.pool.query('SELECT 1').then(
    () => true,
    () => false,
  )
  return Promise.race([query, tooLate])
}
