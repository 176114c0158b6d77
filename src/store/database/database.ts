// Opens the database, a server or the embedded one, with a pool of the `pg` driver and a Prisma client over that pool. Nothing
// else opens either. Sessions run in UTC because Prisma's driver adapter reads timestamps as UTC whatever their offset.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { PrismaClient } from '../generated/client.ts'
import { holdDataFolder } from './data-folder-lock.ts'
import { startEmbeddedDatabase } from './embedded-database.ts'

/** An open database. */
export type Database = {
  /** For every aggregate but the audit log and the inbox, which use `pool` (docs/adr/0013). */
  readonly prisma: PrismaClient
  readonly pool: pg.Pool
  /** Ends every connection, then the embedded database. Idempotent. */
  readonly close: () => Promise<void>
}

const memory = 'memory://'
const connectMilliseconds = 10_000
const statementMilliseconds = 20_000
/** The server cancels its own statements; this is for a server that no longer answers. */
const unansweredMilliseconds = 22_000

/**
 * A PostgreSQL server; connects when first used. Errors never contain the URL, which holds a password. `patient` is for the
 * owner: a migration may take as long as it takes.
 */
export function connectServer(url: SecretString, log: Log, { patient = false } = {}): Database {
  const pool = new pg.Pool({
    connectionString: checkedUrl(url),
    max: 10,
    connectionTimeoutMillis: connectMilliseconds,
    ...(patient ? {} : { statement_timeout: statementMilliseconds, query_timeout: unansweredMilliseconds }),
    keepAlive: true,
    application_name: 'sekisho',
    options: '-c TimeZone=UTC',
  })
  return databaseOver(pool, log, async () => {})
}

/**
 * The embedded database in `dataFolder` (created when absent), or in memory for `memory://`. Rejects with `conflict` while
 * another process uses the folder.
 */
export async function openEmbedded(dataFolder: string, log: Log): Promise<Database> {
  const release = dataFolder === memory ? async () => {} : await holdFolder(dataFolder)
  try {
    const embedded = await startEmbeddedDatabase(dataFolder === memory ? memory : join(dataFolder, 'pgdata'))
    if (dataFolder === memory) log.info({}, 'embedded database open in memory: nothing is kept')
    else log.info({ dataFolder }, 'embedded database open: every commit is flushed to the disk, as far as the volume flushes')
    const pool = new pg.Pool({
      max: 1,
      user: 'postgres',
      database: 'postgres',
      idleTimeoutMillis: 0,
      stream: () => embedded.openStream(),
    } as pg.PoolConfig)
    return databaseOver(pool, log, async () => {
      await embedded.close()
      await release()
    })
  } catch (error) {
    await release()
    throw error
  }
}

async function holdFolder(dataFolder: string): Promise<() => Promise<void>> {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  return holdDataFolder(dataFolder)
}

function databaseOver(pool: pg.Pool, log: Log, afterClose: () => Promise<void>): Database {
  pool.on('error', error => log.error({ error: messageOf(error) }, 'idle database connection failed'))
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool),
    transactionOptions: { maxWait: connectMilliseconds, timeout: statementMilliseconds },
  })
  let closed: Promise<void> | undefined
  const end = async (): Promise<void> => {
    await prisma.$disconnect()
    await pool.end()
    await afterClose()
  }
  return {
    prisma,
    pool,
    close() {
      closed ??= end()
      return closed
    },
  }
}

function checkedUrl(url: SecretString): string {
  const text = url.reveal()
  if (URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol)) return text
  throw new AppError('invalid_configuration', 'the database URL must look like postgresql://user:password@host:5432/database')
}
