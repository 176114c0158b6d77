// Opens the stores: connects, makes sure of the schema, and creates one repository per aggregate, each with a sealing key of
// its own purpose. The only constructor of stores. A process that runs alone (`openBrokerStore`, `openControllersStore`)
// connects to a server as its own role and never migrates; the standalone process (`openStore`) migrates the database itself.
import type { Registry } from 'prom-client'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { SecretString } from '../lib/secret-string.ts'
import { type Access, awaitDatabase, createAccessCheck } from './access/await-database.ts'
import { checkSealingKeys } from './access/check-sealing-keys.ts'
import { logUnencrypted, type NamedUrl } from './access/unencrypted-connection.ts'
import { createAuditLog } from './audit/audit-log.ts'
import { countedAuditLog, createAuditMetrics } from './audit/metrics.ts'
import { createBuildLogs } from './builds/build-logs.ts'
import { createImageRecords } from './builds/image-records.ts'
import { createKeptLogs } from './builds/kept-logs.ts'
import { createAttempts } from './database/attempts.ts'
import { connectServer, type Database, openEmbedded } from './database/database.ts'
import { createLeases } from './database/leases.ts'
import { migrate } from './database/migrate.ts'
import { createInbox } from './inbox/inbox.ts'
import { createOidcRecords } from './oidc-records.ts'
import { createOnboardings } from './onboardings.ts'
import { createPlatformKeys } from './platform-keys.ts'
import { createResealing } from './resealing/resealing.ts'
import { brokerSealedColumns, deskSealedColumns, type SealedColumn, sealPurposes } from './resealing/sealed-columns.ts'
import { createSealer } from './seal.ts'
import { createSessions } from './sessions.ts'
import type { BrokerStore, ControllersStore, Store } from './store.ts'
import { createTokenRegistry } from './token-registry.ts'
import { createUsers } from './users.ts'

/** A PostgreSQL server, by the role of a process and by the role that writes the audit log. */
export type ServerLocation = { readonly url: SecretString; readonly auditUrl: SecretString }

/** Exactly one of `url` (PostgreSQL) and `dataFolder` (embedded PGlite; `memory://` stores nothing on disk). */
export type StoreLocation =
  | { readonly url: SecretString; readonly auditUrl?: SecretString; readonly dataFolder?: never }
  | { readonly dataFolder: string; readonly url?: never; readonly auditUrl?: never }

/** What every store needs. */
type Needs = {
  /** 32 bytes each in base64; the first seals, all open. */
  readonly sealingKeys: readonly SecretString[]
  readonly clock: Clock
  readonly log: Log
  /** Where what is appended to the audit log is counted; not counted without it. */
  readonly metrics?: Registry
}

/** Where the store of the standalone process is, and what it needs. */
export type StoreOptions = StoreLocation & Needs
/** Where the store of a process that runs alone is, and what it needs. */
export type ServerStoreOptions = ServerLocation & Needs

const healthMilliseconds = 2000

/**
 * The store of the standalone process: opens the database, applies missing migrations and returns the repositories of both
 * processes. Errors name the cure and never contain the URL.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const databases = await openDatabases(options)
  const opened = openedOver(databases, options, async () => (await Promise.all(unique(databases).map(answers))).every(Boolean))
  return opening(databases, async () => {
    const broker = await brokerRepositories(opened)
    const controllers = await controllersRepositories(opened)
    const { shared } = opened
    return { ...shared, broker: { ...broker, ...shared }, controllers: { ...controllers, ...shared } }
  })
}

/**
 * The store of the broker's process. It waits until the owner of the database has migrated it and given the role its rights,
 * and rejects with `invalid_configuration` for a role with the rights of others. It never migrates.
 */
export async function openBrokerStore(options: ServerStoreOptions): Promise<BrokerStore> {
  return openAlone('broker', options, brokerRepositories)
}

/** The store of the controllers' process; as `openBrokerStore`. */
export async function openControllersStore(options: ServerStoreOptions): Promise<ControllersStore> {
  return openAlone('desk', options, controllersRepositories)
}

async function openAlone<T>(
  schema: 'broker' | 'desk',
  options: ServerStoreOptions,
  repositories: (opened: OpenedDatabases) => Promise<T>,
) {
  const { url, auditUrl, log } = options
  logUnencrypted(namedUrls(options), log)
  const databases = { main: connectServer(url, log), audit: connectServer(auditUrl, log) }
  const accesses: readonly Access[] = [
    { pool: databases.main.pool, schema, variable: 'SEKISHO_DATABASE_URL' },
    { pool: databases.audit.pool, schema: 'audit', variable: 'SEKISHO_AUDIT_DATABASE_URL' },
  ]
  return opening(databases, async () => {
    await awaitDatabase(accesses, options)
    const opened = openedOver(databases, options, createAccessCheck(accesses, log))
    return { ...(await repositories(opened)), ...opened.shared }
  })
}

function namedUrls({ url, auditUrl }: StoreLocation): readonly NamedUrl[] {
  return [
    ...(url === undefined ? [] : [{ variable: 'SEKISHO_DATABASE_URL', url }]),
    ...(auditUrl === undefined ? [] : [{ variable: 'SEKISHO_AUDIT_DATABASE_URL', url: auditUrl }]),
  ]
}

/** `audit` may be the same database as `main`. */
type Databases = { readonly main: Database; readonly audit: Database }

function unique({ main, audit }: Databases): readonly Database[] {
  return main === audit ? [main] : [main, audit]
}

/** Closes the databases when `work` fails. */
async function opening<T>(databases: Databases, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await Promise.all(unique(databases).map(database => database.close()))
    throw error
  }
}

async function openDatabases(options: StoreOptions): Promise<Databases> {
  const { log } = options
  logUnencrypted(namedUrls(options), log)
  const main = options.url === undefined ? await openEmbedded(options.dataFolder, log) : connectServer(options.url, log)
  try {
    await migrate(main.pool, log)
    return { main, audit: options.auditUrl === undefined ? main : connectServer(options.auditUrl, log) }
  } catch (error) {
    await main.close()
    throw error
  }
}

type OpenedDatabases = ReturnType<typeof openedOver>

/** What the repositories of all processes share; `atEnd` is called before the databases close. */
function openedOver(
  { main, audit: auditDatabase }: Databases,
  { sealingKeys, clock, log, metrics }: Needs,
  healthy: () => Promise<boolean>,
) {
  const afterLoss: (() => void)[] = []
  const onLoss = (): void => {
    for (const listener of afterLoss) listener()
  }
  const uncounted = createAuditLog({ pool: auditDatabase.pool, clock, log, onLoss })
  const audit = metrics === undefined ? uncounted : countedAuditLog(uncounted, createAuditMetrics(metrics))
  const settlers: (() => Promise<void>)[] = [audit.settled]
  return {
    ...main,
    clock,
    log,
    onLoss: (listener: () => void): void => void afterLoss.push(listener),
    seal: (purpose: keyof typeof sealPurposes) => createSealer(sealingKeys, sealPurposes[purpose]),
    resealing: (columns: readonly SealedColumn[]) => createResealing({ prisma: main.prisma, sealingKeys, columns }),
    atEnd: (settled: () => Promise<void>): void => void settlers.push(settled),
    shared: {
      audit,
      // A loss is found within seconds, also by a process that appends nothing.
      healthy: () =>
        withinHealthTime(async () => {
          if (!(await healthy())) return false
          await audit.examine()
          return true
        }),
      async close() {
        await Promise.all(settlers.map(settled => settled()))
        await auditDatabase.close()
        await main.close()
        log.debug({}, 'store closed')
      },
    },
  }
}

/** Rejects with `invalid_configuration` when the sealing keys are not those of the stored keys. */
async function brokerRepositories({ prisma, pool, clock, seal, resealing, atEnd }: OpenedDatabases) {
  const keys = createPlatformKeys({ rows: prisma.platformKeyRow, sealer: seal('keys'), clock })
  await checkSealingKeys(keys, prisma.platformKeyRow, 'broker')
  const inbox = createInbox({ pool, clock })
  atEnd(inbox.settled)
  const leases = createLeases({ prisma, clock })
  return {
    inbox,
    sessions: createSessions({ prisma, sealer: seal('sessions'), clock }),
    onboardings: createOnboardings({ prisma, clock, leases }),
    oidc: createOidcRecords({ prisma, sealer: seal('oidc'), clock }),
    users: createUsers({ prisma, sealer: seal('users'), clock, leases }),
    attempts: createAttempts({ pool, clock }),
    keptLogs: createKeptLogs({ prisma }),
    keys,
    resealing: resealing(brokerSealedColumns),
  }
}

/** As `brokerRepositories`. */
async function controllersRepositories({ prisma, clock, log, seal, resealing, onLoss, atEnd }: OpenedDatabases) {
  const keys = createPlatformKeys({ rows: prisma.deskKeyRow, sealer: seal('keys'), clock })
  await checkSealingKeys(keys, prisma.deskKeyRow, 'desk')
  const tokens = createTokenRegistry({ prisma, sealer: seal('tokens'), clock })
  let restoring: Promise<void> | undefined
  const restore = async (): Promise<void> => {
    try {
      log.error({ tokens: await tokens.restoreLost() }, 'tokens whose records the database had lost are being revoked')
    } catch (error) {
      log.error({ error: messageOf(error) }, 'failed to restore the records of tokens that the database had lost')
    }
  }
  onLoss(() => {
    restoring = restore()
  })
  atEnd(async () => restoring)
  const logs = { buildLogs: createBuildLogs({ prisma, clock }), keptLogs: createKeptLogs({ prisma }) }
  return { tokens, keys, ...logs, images: createImageRecords({ prisma }), resealing: resealing(deskSealedColumns) }
}

async function answers(database: Database): Promise<boolean> {
  await database.pool.query('SELECT 1')
  return true
}

/** False when the database does not answer in time, or with an error. */
function withinHealthTime(work: () => Promise<boolean>): Promise<boolean> {
  const late = AbortSignal.timeout(healthMilliseconds)
  const tooLate = new Promise<boolean>(resolve => late.addEventListener('abort', () => resolve(false), { once: true }))
  return Promise.race([work().catch(() => false), tooLate])
}
