// Applies prisma/migrations to a database and records them in `_prisma_migrations` exactly as Prisma does, so that `prisma
// migrate deploy` works on it too. It refuses a migration whose file was altered after it was applied.
// Source: https://www.prisma.io/docs/orm/prisma-migrate/understanding-prisma-migrate/migration-histories (table and checksum
// were read from a database that Prisma had migrated; the advisory lock is the one that its engine takes).
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { withoutFormerHistory } from './former-history.ts'

/** A migration of prisma/migrations; `checksum` is the SHA-256 (hex) of its SQL, as Prisma computes it. */
export type Migration = { readonly name: string; readonly sql: string; readonly checksum: string }
type Applied = { readonly migration_name: string; readonly checksum: string; readonly finished_at: Date | null }

const prismaLock = 72_707_369
const migrationsFolder = join(import.meta.dirname, '../../../prisma/migrations')

const recordsTable = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ, migration_name VARCHAR(255) NOT NULL,
  logs TEXT, rolled_back_at TIMESTAMPTZ, started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`

/** The migrations in the order of their names, as Prisma applies them. */
export function readMigrations(folder: string = migrationsFolder): readonly Migration[] {
  const names = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
  return names
    .map(entry => entry.name)
    .sort()
    .map(name => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    })
}

/** What `0001_init` replaced counts as `0001_init`. */
const firstMigration = '0001_init'

/**
 * The migrations that are still to be applied. Throws `invalid_configuration` when the database's history is neither the
 * beginning of ours nor one that ours replaced.
 */
export function pendingMigrations(all: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  const unfinished = applied.find(row => row.finished_at === null)
  if (unfinished !== undefined)
    throw new AppError(
      'invalid_configuration',
      `migration ${unfinished.migration_name} began and did not end: restore the database or complete it by hand`,
    )
  const { hasAll, rest } = withoutFormerHistory(applied)
  for (const row of rest) {
    const known = all.find(migration => migration.name === row.migration_name)
    if (known === undefined)
      throw new AppError(
        'invalid_configuration',
        `the database has migration ${row.migration_name} of a newer version: run that version`,
      )
    if (known.checksum !== row.checksum)
      throw new AppError('invalid_configuration', `the file of migration ${row.migration_name} was altered after it was applied`)
  }
  const isApplied = ({ name }: Migration): boolean =>
    (hasAll && name === firstMigration) || rest.some(row => row.migration_name === name)
  return all.filter(migration => !isApplied(migration))
}

/**
 * Applies what is missing, each migration in a transaction of its own. Needs no right to change tables when nothing is missing.
 */
export async function migrate(pool: pg.Pool, log: Log, migrations: readonly Migration[] = readMigrations()): Promise<void> {
  if ((await migrationsToApply(pool, migrations)).length === 0) return
  const client = await pool.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [prismaLock])
    await client.query(recordsTable)
    for (const migration of pendingMigrations(migrations, await appliedMigrations(client))) {
      await applyMigration(client, migration)
      log.info({ migration: migration.name }, 'migration applied')
    }
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [prismaLock])
    client.release()
  }
}

/** The migrations that the database lacks. Reads only; throws as `pendingMigrations`. */
export async function migrationsToApply(
  client: pg.Pool | pg.PoolClient,
  migrations: readonly Migration[] = readMigrations(),
): Promise<readonly Migration[]> {
  return migrations.length === 0 ? [] : pendingMigrations(migrations, await appliedMigrations(client))
}

async function appliedMigrations(client: pg.Pool | pg.PoolClient): Promise<readonly Applied[]> {
  const table = await client.query<{ found: boolean }>(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found`)
  if (table.rows[0]?.found !== true) return []
  const rows = await client.query<Applied>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at',
  )
  return rows.rows
}

async function applyMigration(client: pg.PoolClient, migration: Migration): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(migration.sql)
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, logs, started_at, applied_steps_count)
       VALUES ($1, $2, now(), $3, NULL, now(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    )
    await client.query('COMMIT')
  } catch (cause) {
    await client.query('ROLLBACK')
    throw new AppError('invalid_configuration', `failed to apply migration ${migration.name}: ${messageOf(cause)}`, { cause })
  }
}
