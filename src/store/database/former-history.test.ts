// Databases that the ten former migrations made, and those that are neither empty, nor theirs, nor ours.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { databases, type TestDatabase } from '../../../test/fixtures/databases.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { connectServer, type Database, openEmbedded } from './database.ts'
import { formerHistory } from './former-history.ts'
import { migrate, migrationsToApply, readMigrations } from './migrate.ts'

const former = Object.entries(formerHistory)
/** What replaced them. */
const first = readMigrations().slice(0, 1)
const rows = (pool: pg.Pool, sql: string) => pool.query(sql).then(answer => answer.rows as unknown[])
const recordedNames = (pool: pg.Pool) =>
  rows(pool, 'SELECT migration_name AS name FROM _prisma_migrations ORDER BY migration_name').then(all =>
    (all as { readonly name: string }[]).map(({ name }) => name),
  )

async function record(pool: pg.Pool, history: readonly (readonly [string, string])[]): Promise<void> {
  await pool.query('DELETE FROM _prisma_migrations')
  for (const [name, checksum] of history)
    await pool.query(
      'INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count) VALUES ($1, $2, now(), $3, 1)',
      [randomUUID(), checksum, name],
    )
}

describe.each(databases)('a database of $name', ({ start }) => {
  let place: TestDatabase
  let database: Database
  beforeAll(async () => {
    place = await start()
    const { url } = place.location
    database = url === undefined ? await openEmbedded('memory://', silentLog) : connectServer(url, silentLog)
  })
  afterAll(async () => {
    await database?.close()
    await place?.stop()
  })
  beforeEach(async () => {
    await database.pool.query('DROP SCHEMA IF EXISTS broker, desk, audit, builds CASCADE')
    await database.pool.query('DROP TABLE IF EXISTS _prisma_migrations')
    await migrate(database.pool, silentLog, first)
  })

  test('that the ten migrations made is up to date: nothing is applied, its records and rows stay', async () => {
    const { pool } = database
    await record(pool, former)
    await pool.query(`INSERT INTO broker.platform_keys (name, sealed, created_at) VALUES ('key', 'x', now())`)
    expect(await migrationsToApply(pool, first)).toEqual([])
    await migrate(pool, silentLog, first)
    expect(await recordedNames(pool)).toEqual(former.map(([name]) => name))
    expect(await rows(pool, 'SELECT name FROM broker.platform_keys')).toEqual([{ name: 'key' }])
  })

  test('that the ten migrations made gets what comes after 0001_init, once', async () => {
    const { pool } = database
    await record(pool, former)
    const next = { name: '0002_next', sql: 'CREATE TABLE "broker"."next" ("id" INTEGER)', checksum: 'of-next' }
    const all = [...first, next]
    expect(await migrationsToApply(pool, all)).toEqual([next])
    await migrate(pool, silentLog, all)
    await migrate(pool, silentLog, all)
    expect(await rows(pool, 'SELECT * FROM broker.next')).toEqual([])
    expect((await recordedNames(pool)).filter(name => name === next.name)).toHaveLength(1)
    await expect(migrate(pool, silentLog)).rejects.toThrow('the database has migration 0002_next of a newer version')
  })

  test.each([
    ['the first of the ten only', former.slice(0, 1)],
    ['all but the last', former.slice(0, -1)],
    ['all but the first', former.slice(1)],
  ])('that has %s is refused, and stays as it is', async (_case, history) => {
    const { pool } = database
    await record(pool, history)
    await expect(migrate(pool, silentLog)).rejects.toThrow(
      /^the database has a part of a former history of migrations \(.*\): complete it with the version that began it, or use an empty database$/,
    )
    expect(await recordedNames(pool)).toEqual(history.map(([name]) => name))
  })

  test('with tables and without records is refused, and stays as it is', async () => {
    const { pool } = database
    await record(pool, [])
    await pool.query(`INSERT INTO broker.platform_keys (name, sealed, created_at) VALUES ('key', 'x', now())`)
    await expect(migrate(pool, silentLog)).rejects.toThrow(/^failed to apply migration 0001_init: relation .* already exists$/)
    expect(await rows(pool, 'SELECT name FROM broker.platform_keys')).toEqual([{ name: 'key' }])
    expect(await recordedNames(pool)).toEqual([])
  })
})
