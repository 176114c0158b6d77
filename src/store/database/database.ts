// One Prisma client over one PostgreSQL driver, whether the database is a server or the embedded one: the only place where either is
// opened. Sessions run in UTC because the driver adapter reads moments as UTC whatever offset they carry.
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

export type Database = {
  readonly prisma: PrismaClient
  readonly pool: pg.Pool
  /** Ends every connection, then the embedded database. Idempotent. */
  readonly close: () => Promise<void>
}

const memory = 'memory://'
const connectMilliseconds = 10_000
const statementMilliseconds = 20_000
/** A server ends its own statements; this is for one that says nothing any more. */
const silenceMilliseconds = 22_000

/** A PostgreSQL server. Errors never hold the URL: it has a password in it. */
export function connectServer(url: SecretString, log: Log): Database {
  const pool = new pg.Pool({
    connectionString: checkedUrl(url),
    max: 10,
    connectionTimeoutMillis: connectMilliseconds,
    statement_timeout: statementMilliseconds,
    query_timeout: silenceMilliseconds,
    keepAlive: true,
    application_name: 'sekisho',
    options: '-c TimeZone=UTC',
  })
  return databaseOver(pool, log, async () => {})
}

/** The embedded database in `dataFolder` (made when absent), or in memory for `memory://`. One process at a time. */
export async function openEmbedded(dataFolder: string, log: Log): Promise<Database> {
  const release = dataFolder === memory ? async () => {} : await holdFolder(dataFolder)
  try {
    const embedded = await startEmbeddedDatabase(dataFolder === memory ? memory : join(dataFolder, 'pgdata'))
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

function databaseOver(pool: pg.Pool, log: Log, afterwards: () => Promise<void>): Database {
  pool.on('error', error => log.error({ problem: messageOf(error) }, 'an idle database connection failed'))
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool),
    transactionOptions: { maxWait: connectMilliseconds, timeout: statementMilliseconds },
  })
  let closed: Promise<void> | undefined
  const end = async (): Promise<void> => {
    await prisma.$disconnect()
    await pool.end()
    await afterwards()
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
