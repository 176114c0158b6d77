// The databases of benches: a PostgreSQL of their own with fsync, and folders for the embedded one. Every run gets a new one
// that is already migrated, so that no run pays for rows of another or for creating the schema.
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../../../dev/postgres/start-postgres.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { connectServer, type Database, openEmbedded } from '../../../src/store/database/database.ts'
import { migrate } from '../../../src/store/database/migrate.ts'

/** The environment variables by which a process finds the database (src/store/config.ts). */
export type DatabaseEnvironment = Readonly<Record<string, string>>

export type BenchDatabases = {
  readonly create: () => Promise<DatabaseEnvironment>
  /** Runs `work` with a new database and removes it afterwards: the rows of many runs would fill the disk. */
  readonly withNew: <T>(work: (environment: DatabaseEnvironment) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

async function migrated(database: Database): Promise<void> {
  try {
    await migrate(database.pool, silentLog)
  } finally {
    await database.close()
  }
}

/** Databases are copies of a template: creating one takes seconds, copying it a fraction of a second. */
export async function embeddedDatabases(folder: string): Promise<BenchDatabases> {
  const template = join(folder, 'template')
  await migrated(await openEmbedded(join(template, 'database'), silentLog))
  let runs = 0
  const copied = async (): Promise<string> => {
    const copy = join(folder, `run-${++runs}`)
    await cp(template, copy, { recursive: true })
    return copy
  }
  const environmentOf = (copy: string): DatabaseEnvironment => ({ SEKISHO_DATA_FOLDER: copy })
  return {
    create: async () => environmentOf(await copied()),
    async withNew(work) {
      const copy = await copied()
      try {
        return await work(environmentOf(copy))
      } finally {
        await rm(copy, { recursive: true, force: true })
      }
    },
    close: async () => {},
  }
}

/** Files of the write-ahead log, of 16 MB each. */
const logFiles = 48

/**
 * Brings the write-ahead log into the state of a server that has run for a while: its files exist and are used again. A new
 * server creates one for every 16 MB, and everybody waits while it is filled with zeros and flushed.
 * Source: https://www.postgresql.org/docs/current/wal-configuration.html
 */
async function fillLog({ pool }: Database): Promise<void> {
  await pool.query("ALTER SYSTEM SET min_wal_size = '1GB'")
  await pool.query('SELECT pg_reload_conf()')
  for (let file = 0; file < logFiles; file++) {
    await pool.query("SELECT pg_logical_emit_message(false, 'bench', 'one more file')")
    await pool.query('SELECT pg_switch_wal()')
  }
  await pool.query('CHECKPOINT')
}

export async function serverDatabases(): Promise<BenchDatabases> {
  const postgres = await startPostgres({ durable: true })
  const owner = connectServer(postgres.url('postgres'), silentLog)
  await fillLog(owner)
  let runs = 0
  const created = async (): Promise<string> => {
    const name = `run_${++runs}`
    await owner.pool.query(`CREATE DATABASE ${name}`)
    await migrated(connectServer(postgres.url(name), silentLog))
    return name
  }
  const environmentOf = (name: string): DatabaseEnvironment => ({ SEKISHO_DATABASE_URL: postgres.url(name).reveal() })
  return {
    create: async () => environmentOf(await created()),
    async withNew(work) {
      const name = await created()
      try {
        return await work(environmentOf(name))
      } finally {
        await owner.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
      }
    },
    async close() {
      await owner.close()
      await postgres.stop()
    },
  }
}
