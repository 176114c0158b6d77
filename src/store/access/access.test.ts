// What each role may do with each table, on a real PostgreSQL; and what a process does that is given another role, another
// keyring or a database that is not ready.
import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../dev/postgres/start-postgres.ts'
import {
  createProductionDatabase,
  newSealingKey,
  type ProductionDatabase,
  rolePasswords,
} from '../../../test/fixtures/production-database.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Log, LogFields } from '../../lib/log.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import { verifyLog } from '../audit/testing/verify-log.ts'
import { compressText } from '../builds/log-text.ts'
import { formerHistory } from '../database/former-history.ts'
import { openBrokerStore, openControllersStore, openStore } from '../open-store.ts'
import { missingRights, readRole } from './check-role.ts'
import { applyAsOwner, plannedAsOwner } from './owner.ts'
import { type AnySchema, allSchemas, rightsOn, roleNames, type Schema, schemas, tableRights } from './rights.ts'

const root = join(import.meta.dirname, '../../..')
const withoutServer = process.env['SEKISHO_TEST_POSTGRES'] === 'skip'

let postgres: TestPostgres
let database: ProductionDatabase
const closing: (() => Promise<void>)[] = []
beforeAll(async () => {
  if (withoutServer) return
  postgres = await startPostgres()
  database = await createProductionDatabase(postgres)
  await database.migrate()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(async () => {
  await database?.close()
  await postgres?.stop()
})

async function emptyDatabase(): Promise<ProductionDatabase> {
  const made = await createProductionDatabase(postgres)
  closing.push(made.close)
  return made
}

/** Every line that a process logs, as text. */
function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = []
  const write = (fields: LogFields, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { debug: () => {}, info: write, error: write, child: () => log, lines }
  return log
}

const intent = {
  cacheKey: 'k',
  installation: { host: 'github.localhost', appId: 1, installationId: 2 },
  api: 'https://api.github.example',
  grantUid: 'g',
  grantName: 'read-shop',
  subject: { kind: 'ServiceAccount', namespace: 'acme', name: 'runner', uid: 'u' },
  repositoryIds: [1],
  permissions: { contents: 'read' },
}
const entry = { action: 'token.intended', actor: 'x', object: 'y', outcome: 'allowed', reason: 'z', details: {} } as const

describe.skipIf(withoutServer)('rights', () => {
  /** One statement for each right that does nothing when it is permitted. */
  async function attempts(): Promise<
    readonly { readonly schema: AnySchema; readonly table: string; readonly verb: string; readonly sql: string }[]
  > {
    const { rows } = await database.owner.pool.query<{ schema: AnySchema; table: string; column: string }>(
      `SELECT table_schema AS schema, table_name AS table, min(column_name) AS column FROM information_schema.columns
       WHERE table_schema = ANY ($1) GROUP BY 1, 2`,
      [allSchemas],
    )
    return rows.flatMap(({ schema, table, column }) => {
      const name = `${schema}.${table}`
      const statements = {
        SELECT: `SELECT * FROM ${name} WHERE false`,
        INSERT: `INSERT INTO ${name} SELECT * FROM ${name} WHERE false`,
        UPDATE: `UPDATE ${name} SET ${column} = ${column} WHERE false`,
        DELETE: `DELETE FROM ${name} WHERE false`,
        TRUNCATE: `TRUNCATE ${name}`,
        TRIGGER: `CREATE TRIGGER mine BEFORE INSERT ON ${name} FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
        ALTER: `ALTER TABLE ${name} ADD COLUMN mine int`,
        DROP: `DROP TABLE ${name}`,
      }
      return Object.entries(statements).map(([verb, sql]) => ({ schema, table, verb, sql }))
    })
  }

  test('list every table of all schemas', async () => {
    const { rows } = await database.owner.pool.query<{ table: string }>(
      `SELECT table_schema || '.' || table_name AS table FROM information_schema.tables WHERE table_schema = ANY ($1)`,
      [allSchemas],
    )
    const listed = [...new Set(schemas.flatMap(schema => Object.keys(tableRights[schema])))]
    expect(rows.map(({ table }) => table).sort(), 'say in src/store/access/rights.ts who may do what with it').toEqual(
      listed.sort(),
    )
  })

  /** What the role was wrongly permitted or refused. */
  async function deviations(client: pg.Client, schema: Schema): Promise<readonly string[]> {
    const wrong: string[] = []
    for (const attempt of await attempts()) {
      await client.query('BEGIN')
      const refusal = await client.query(attempt.sql).then(
        () => undefined,
        (error: pg.DatabaseError) => error,
      )
      await client.query('ROLLBACK')
      const verbs: readonly string[] = rightsOn(schema, `${attempt.schema}.${attempt.table}`)
      const asListed = verbs.includes(attempt.verb) ? refusal === undefined : refusal?.code === '42501'
      if (!asListed) wrong.push(`${attempt.verb} ${attempt.schema}.${attempt.table}: ${refusal?.message ?? 'permitted'}`)
    }
    return wrong
  }

  test.each(schemas)('of the role of %s are exactly those of the list: every verb on every table', async schema => {
    const client = new pg.Client({ connectionString: database.url(schema).reveal() })
    await client.connect()
    closing.push(() => client.end())
    expect(await deviations(client, schema)).toEqual([])
    const references = await client.query(
      `SELECT relname FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE relkind = 'r'
       AND nspname = ANY ($1) AND has_any_column_privilege(pg_class.oid, 'REFERENCES')`,
      [allSchemas],
    )
    expect(references.rows).toEqual([])
    for (const sql of [
      'CREATE TABLE public.mine (a int)',
      ...allSchemas.map(name => `CREATE TABLE ${name}.mine (a int)`),
      'DELETE FROM public._prisma_migrations',
      `UPDATE public._prisma_migrations SET checksum = 'x'`,
      'CREATE ROLE mine',
      'SET ROLE owner',
      ...schemas.filter(other => other !== schema).map(other => `SET ROLE ${roleNames[other]}`),
      `COPY (SELECT 1) TO PROGRAM 'true'`,
    ])
      await expect(client.query(sql), sql).rejects.toMatchObject({ code: '42501' })
  })

  test('are the same by psql and deploy/postgres/roles.sql as by the owner’s program', async () => {
    const other = await emptyDatabase()
    await other.migrate()
    for (const table of ['broker.users', 'desk.tokens'])
      await other.owner.pool.query(`REVOKE ALL ON ${table} FROM ${roleNames.desk}`)
    await other.owner.pool.query(`GRANT SELECT ON broker.users TO ${roleNames.desk}`)
    const plain = rolePasswords.broker?.reveal() ?? ''
    const variables = schemas.flatMap(schema => ['-v', `${schema}_password=${plain}`])
    const file = join(root, 'deploy/postgres/roles.sql')
    for (const _twice of [1, 2]) execFileSync('psql', [postgres.url(other.name).reveal(), '-q', ...variables, '-f', file])
    expect(await plannedAsOwner(other.owner.pool, {})).toEqual([])
  })
})

describe.skipIf(withoutServer)('a process as its role', () => {
  test('the broker does all that it does', async () => {
    const store = await openBrokerStore(database.options('broker'))
    closing.push(store.close)
    const expiresAt = new Date(Date.now() + 60_000)
    const person = { host: 'h', userId: 1, login: 'x' }
    const delivery = { deliveryId: 'd', event: 'push', host: 'h', receivedAt: new Date(), body: Buffer.from('{}') }
    expect(await store.healthy()).toBe(true)
    expect(await store.inbox.receive(delivery)).toBe('stored')
    const [claimed] = await store.inbox.claim(1)
    await store.inbox.release(claimed?.id ?? '', 0)
    await store.inbox.markHandled(claimed?.id ?? '', 'ignored')
    await store.inbox.deleteHandledBefore(expiresAt)
    const state = await store.sessions.createLoginState({ data: {}, expiresAt })
    expect(await store.sessions.takeLoginState(state.reveal())).toEqual({})
    expect(await store.sessions.useOnce('s', expiresAt)).toBe(true)
    const session = await store.sessions.create({ ...person, data: {}, expiresAt })
    expect(await store.sessions.find(session.reveal())).toMatchObject(person)
    expect(await store.sessions.people()).toHaveLength(1)
    await store.sessions.revoke(session.reveal())
    await store.sessions.revokeAllOf('h', 1)
    await store.sessions.deleteExpired(expiresAt)
    const onboarding = await store.onboardings.begin({ host: 'h', accountId: 1, userId: 1, data: {}, state: 'proved' })
    await store.onboardings.advance(onboarding.id, 'confirmed')
    expect(await store.onboardings.active()).toHaveLength(1)
    await store.onboardings.abandon('proved', expiresAt)
    await store.onboardings.deleteEndedBefore(expiresAt)
    await store.oidc.upsert({ model: 'Grant', id: 'i', payload: {}, expiresAt, lookup: { account: 'a', grantId: 'g' } })
    await store.oidc.upsert({ model: 'Grant', id: 'i', payload: {}, expiresAt, lookup: { account: 'a', grantId: 'g' } })
    expect(await store.oidc.consume('Grant', 'i')).toBeInstanceOf(Date)
    expect(await store.oidc.signIns()).toEqual([{ account: 'a', count: 1 }])
    await store.oidc.endAllOf('a')
    await store.oidc.deleteExpired(expiresAt)
    await store.users.save({ ...person, accessToken: new SecretString('t'), groups: [] })
    await store.users.save({ ...person, accessToken: new SecretString('t'), groups: [] })
    expect(await store.users.withRefreshLock('h', 1, () => store.users.find('h', 1))).toMatchObject(person)
    await store.users.remove('h', 1)
    await store.keys.getOrCreate('k', async () => new SecretString('key'))
    await store.audit.append(entry)
    await store.audit.appendOnce({ ...entry, namespace: 'acme' }, () => false)
    expect(await verifyLog(store.audit)).toMatchObject({ ok: true })
  })

  test('the controllers do all that they do', async () => {
    const store = await openControllersStore(database.options('desk'))
    closing.push(store.close)
    const minted = {
      token: new SecretString('ghs_x'),
      expiresAt: new Date(Date.now() + 3_600_000),
      repositoryIds: [1],
      permissions: {},
    }
    const id = (await store.tokens.intendWithin(intent, { limit: 10, since: new Date(0) })) ?? ''
    await store.tokens.recordMinted(id, minted)
    expect((await store.tokens.findLive('k', 0))?.id).toBe(id)
    await store.tokens.recordDelivered(id)
    expect(await store.tokens.hasLive({ namespace: 'acme' })).toBe(true)
    await store.tokens.markRevoking([id], 'test')
    await store.tokens.deferRevocation(id, { retryAt: new Date(), suspended: false })
    expect(await store.tokens.revoking()).toHaveLength(1)
    await store.tokens.markRevoked(id, 'test')
    await store.tokens.abandon(await store.tokens.intend(intent), 'test')
    expect(await store.tokens.orphans(new Date())).toEqual([])
    expect(await store.tokens.expiredUnrevoked()).toEqual([])
    await store.tokens.expire(new Date())
    await store.tokens.deleteExpired(new Date())
    await store.keys.getOrCreate('token-desk-authority', async () => new SecretString('key'))
    const remoteSync = { name: 'shop', uid: 'u' }
    const build = { id: randomUUID(), namespace: 'acme', buildNamespace: 'acme-build', name: 'shop-1', remoteSync, attempt: 1 }
    await store.buildLogs.begin({ ...build, commit: 'c', createdAt: new Date() })
    const chunk = { sequence: 0, step: 'build', firstByte: 0, endByte: 1, content: compressText(Buffer.from('x')) }
    const change = { put: [chunk], drop: [1], position: {}, steps: [], bytes: 1, leftOut: 0, stored: 1 }
    await store.buildLogs.append(build.id, 0, change)
    await store.buildLogs.end(build.id, { outcome: 'Failed' })
    expect(await store.buildLogs.complete([build.id])).toEqual(new Set([build.id]))
    const other = await openBrokerStore(database.options('broker'))
    closing.push(other.close)
    expect((await other.keptLogs.find('acme', 'shop'))?.id).toBe(build.id)
    expect((await other.keptLogs.after(build.id, 0)).map(({ text }) => text.toString())).toEqual(['x'])
    await store.buildLogs.expire({ before: new Date(0), maxStored: 1 }, new Map())
    expect(await store.buildLogs.deleteOf('u')).toBe(0)
    await store.audit.append(entry)
    expect(await verifyLog(store.audit)).toMatchObject({ ok: true })
  })
})

describe.skipIf(withoutServer)('a database of the standalone form', () => {
  test('is that of the production form after the migration, and the key of the standalone form is needed no more', async () => {
    const own = await emptyDatabase()
    const former = newSealingKey()
    const alone = await openStore({ url: postgres.url(own.name), sealingKeys: [former], clock: systemClock, log: silentLog })
    const names = ['of-the-broker', 'of-the-controllers'] as const
    await alone.broker.keys.getOrCreate(names[0], async () => new SecretString(names[0]))
    await alone.controllers.keys.getOrCreate(names[1], async () => new SecretString(names[1]))
    await alone.broker.audit.append(entry)
    await alone.close()
    await own.migrate()
    const open = (behind: readonly SecretString[]) => {
      const options = (schema: 'broker' | 'desk') => {
        const { sealingKeys, ...more } = own.options(schema)
        return { ...more, sealingKeys: [...sealingKeys, ...behind] }
      }
      return Promise.all([openBrokerStore(options('broker')), openControllersStore(options('desk'))])
    }
    for (const store of await open([former])) {
      expect(await store.resealing.run(new AbortController().signal)).toMatchObject({ unreadable: 0 })
      await store.close()
    }
    for (const [index, store] of (await open([])).entries()) {
      const name = names[index] ?? ''
      expect((await store.keys.find(name))?.reveal()).toBe(name)
      expect(await store.healthy()).toBe(true)
      expect(await verifyLog(store.audit)).toMatchObject({ ok: true })
      await store.close()
    }
  })
})

describe.skipIf(withoutServer)('a process refuses to start', () => {
  const refusal = async (opening: Promise<{ readonly close: () => Promise<void> }>): Promise<string> => {
    const outcome = await opening.then(
      async store => {
        await store.close()
        return 'started'
      },
      (error: Error) => error.message,
    )
    expect(outcome).not.toContain(rolePasswords.broker?.reveal())
    return outcome
  }

  test('as the owner', async () => {
    const url = postgres.url(database.name)
    expect(await refusal(openBrokerStore({ ...database.options('broker'), url }))).toMatch(
      /^SEKISHO_DATABASE_URL connects as the role owner, which can create roles; .*is a superuser.*Set it to a role with the rights of sekisho_broker and no other/,
    )
    expect(await refusal(openControllersStore({ ...database.options('desk'), auditUrl: url }))).toMatch(
      /^SEKISHO_AUDIT_DATABASE_URL connects as the role owner/,
    )
  })

  test('as another process', async () => {
    expect(await refusal(openBrokerStore({ ...database.options('broker'), url: database.url('desk') }))).toMatch(
      /SEKISHO_DATABASE_URL connects as the role sekisho_desk, which may .*SELECT, INSERT, UPDATE desk.platform_keys; .*That is the role of the controllers, and this one is for the broker/,
    )
    expect(await refusal(openControllersStore({ ...database.options('desk'), url: database.url('broker') }))).toMatch(
      /That is the role of the broker, and this one is for the controllers/,
    )
    expect(await refusal(openBrokerStore({ ...database.options('broker'), auditUrl: database.url('broker') }))).toMatch(
      /^SEKISHO_AUDIT_DATABASE_URL connects as the role sekisho_broker/,
    )
  })

  test.each([
    ['may change the log', 'GRANT UPDATE (reason) ON audit.entries TO', 'audit', /may UPDATE audit.entries/],
    ['may empty the log', 'GRANT TRUNCATE ON audit.entries TO', 'audit', /may TRUNCATE audit.entries/],
    ['may read a column of tokens', 'GRANT SELECT (sealed_token) ON desk.tokens TO', 'broker', /may SELECT desk.tokens/],
    ['may become the owner of tokens', 'GRANT sekisho_desk TO', 'broker', /may SELECT, INSERT, UPDATE desk.platform_keys/],
    [
      'may run programs on the server',
      'GRANT pg_execute_server_program TO',
      'broker',
      /is a member of pg_execute_server_program/,
    ],
    ['may create objects', 'GRANT CREATE ON SCHEMA audit TO', 'broker', /can create objects in schema audit/],
  ] as const)('as a role that %s', async (_name, grant, schema, message) => {
    // A role of its own, because roles belong to the server and other tests use it.
    const role = `mine_${schema}`
    const { pool } = database.owner
    await pool.query(`DROP ROLE IF EXISTS ${role}`)
    await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'password' IN ROLE ${roleNames[schema]}`)
    try {
      await pool.query(`${grant} ${role}`)
      const url = postgres.url(database.name, { name: role, password: 'password' })
      const options = database.options('broker')
      expect(await refusal(openBrokerStore(schema === 'audit' ? { ...options, auditUrl: url } : { ...options, url }))).toMatch(
        message,
      )
    } finally {
      await pool.query(`DROP OWNED BY ${role}`)
      await pool.query(`DROP ROLE ${role}`)
    }
  })

  test('with the sealing keys of another process, or without a former key, and stores nothing', async () => {
    const own = await emptyDatabase()
    await own.migrate()
    await (await openBrokerStore(own.options('broker'))).close()
    await (await openControllersStore(own.options('desk'))).close()
    const { sealingKeys } = own.options('desk')
    expect(await refusal(openBrokerStore({ ...own.options('broker'), sealingKeys }))).toMatch(
      /^SEKISHO_SEALING_KEYS does not open what is stored in schema broker \(sealing-keys-marker\): these are the keys of another process or database, or a former key is missing/,
    )
    const rotated = [newSealingKey(), ...own.options('broker').sealingKeys]
    expect(await refusal(openBrokerStore({ ...own.options('broker'), sealingKeys: rotated }))).toBe('started')
    expect(await refusal(openBrokerStore({ ...own.options('broker'), sealingKeys: [newSealingKey()] }))).toContain(
      'schema broker',
    )
    const { rows } = await own.owner.pool.query('SELECT name FROM broker.platform_keys')
    expect(rows).toHaveLength(1)
  })

  test('with a wrong password or a database that does not exist', async () => {
    const options = database.options('broker')
    const wrong = postgres.url(database.name, { name: roleNames.broker, password: 'wrong-password' })
    expect(await refusal(openBrokerStore({ ...options, url: wrong }))).toBe(
      'SEKISHO_DATABASE_URL cannot be used: PostgreSQL does not accept its role or password (28P01)',
    )
    const nowhere = postgres.url('nowhere', { name: roleNames.broker, password: rolePasswords.broker?.reveal() ?? '' })
    expect(await refusal(openBrokerStore({ ...options, url: nowhere }))).toContain('there is no such database (3D000)')
  })

  test('on a database of a newer version, before it writes', async () => {
    const own = await emptyDatabase()
    await own.migrate()
    await own.owner.pool.query(
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count) VALUES ('next', 'x', now(), '9999_next', 1)`,
    )
    // Whatever writes would fail with another message.
    await own.owner.pool.query(`ALTER DATABASE ${own.name} SET default_transaction_read_only = on`)
    const message = 'the database has migration 9999_next of a newer version: run that version'
    expect(await refusal(openBrokerStore(own.options('broker')))).toBe(message)
    expect(await refusal(openControllersStore(own.options('desk')))).toBe(message)
    await expect(applyAsOwner(own.owner.pool, rolePasswords, silentLog)).rejects.toThrow(message)
  })
})

describe.skipIf(withoutServer)('a process waits', () => {
  /** Retries at once. */
  const clock = { ...systemClock, sleep: () => new Promise<void>(resolve => setTimeout(resolve, 20)) }

  test('for the owner to migrate, and says how', async () => {
    const own = await emptyDatabase()
    const log = recordingLog()
    const opening = openBrokerStore(own.options('broker', { log, clock }))
    await waitUntil('a line of the log', () => log.lines.length > 0)
    expect(log.lines[0]).toMatch(
      /waiting for the database .*has not been migrated to this version \(0001_init, .*\).*as the owner of the database run: node src\/store\/migrate-main.ts/,
    )
    await own.migrate()
    const store = await opening
    closing.push(store.close)
    expect(await store.healthy()).toBe(true)
    // One line for each thing it waits for, not one for each attempt.
    expect(new Set(log.lines).size).toBe(log.lines.length)
  })

  test('for a right that its role lacks, and names it', async () => {
    const own = await emptyDatabase()
    await own.migrate()
    await own.owner.pool.query('REVOKE INSERT ON audit.entries FROM sekisho_audit')
    const log = recordingLog()
    const opening = openControllersStore(own.options('desk', { log, clock }))
    await waitUntil('a line of the log', () => log.lines.length > 0)
    expect(log.lines[0]).toMatch(
      /SEKISHO_AUDIT_DATABASE_URL connects as the role sekisho_audit, which lacks INSERT on audit.entries/,
    )
    expect(await own.migrate()).toContain('grant INSERT on audit.entries to sekisho_audit')
    closing.push((await opening).close)
  })

  test('while it runs it is not healthy without a right, or when the database is read only, and says so', async () => {
    const own = await emptyDatabase()
    await own.migrate()
    const log = recordingLog()
    const store = await openControllersStore(own.options('desk', { log }))
    closing.push(store.close)
    expect(await store.healthy()).toBe(true)
    await own.owner.pool.query('REVOKE UPDATE ON desk.tokens FROM sekisho_desk')
    expect(await store.healthy()).toBe(false)
    expect(log.lines.at(-1)).toMatch(/the database cannot be used .*sekisho_desk, which lacks UPDATE on desk.tokens/)
    await own.migrate()
    expect(await store.healthy()).toBe(true)
    await own.owner.pool.query(`ALTER DATABASE ${own.name} SET default_transaction_read_only = on`)
    // Connections that exist keep their setting: as after a failover, they end.
    await own.owner.pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE $1', ['sekisho_%'])
    await waitUntil('a line of the log', () => log.lines.length > 0)
    expect(await store.healthy()).toBe(false)
    expect(log.lines.at(-1)).toMatch(/accepts no writes|terminat/)
    expect(await store.healthy()).toBe(false)
    expect(log.lines.at(-1)).toContain('the database accepts no writes')
    await expect(store.audit.append(entry)).rejects.toThrow('read-only')
    await own.owner.pool.query(`ALTER DATABASE ${own.name} RESET default_transaction_read_only`)
    // The connections that were read only are closed, and new ones are not.
    for (let attempt = 0; !(await store.healthy()); attempt += 1) expect(attempt).toBeLessThan(20)
    await store.audit.append(entry)
  })
})

describe.skipIf(withoutServer)('the program of the owner', () => {
  const run = async (environment: Record<string, string>, ...flags: string[]) =>
    promisify(execFile)(process.execPath, ['src/store/migrate-main.ts', ...flags], { cwd: root, env: environment }).then(
      ({ stdout }) => stdout,
      (error: { stderr: string }) => error.stderr,
    )

  test('says what it would do, does it, and then has nothing to do', async () => {
    const own = await emptyDatabase()
    const environment = { SEKISHO_DATABASE_OWNER_URL: postgres.url(own.name).reveal() }
    const planned = await run(environment, '--dry-run')
    expect(planned).toMatch(/^to do \(nothing was changed\):\n {2}apply migration 0001_init\n/)
    expect(planned).toContain('grant INSERT on audit.entries to sekisho_audit')
    expect((await own.owner.pool.query(`SELECT to_regclass('_prisma_migrations') AS found`)).rows).toEqual([{ found: null }])
    expect(await run(environment)).toBe(planned.replace('to do (nothing was changed):', 'done:'))
    expect(await run(environment)).toBe('nothing was to do\n')
    expect(await run(environment, '--dry-run')).toBe('nothing to do\n')
    const client = await own.owner.pool.connect()
    expect(missingRights(await readRole(client), 'desk')).toEqual([])
    client.release()
  })

  test('has nothing to do in a database that the ten former migrations made, and processes start on it', async () => {
    const own = await emptyDatabase()
    await own.migrate()
    await own.owner.pool.query(`DELETE FROM _prisma_migrations WHERE migration_name = '0001_init'`)
    await own.owner.pool.query(
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
       SELECT gen_random_uuid(), checksum, now(), name, 1 FROM unnest($1::text[], $2::text[]) AS former (name, checksum)`,
      [Object.keys(formerHistory), Object.values(formerHistory)],
    )
    expect(await run({ SEKISHO_DATABASE_OWNER_URL: postgres.url(own.name).reveal() })).toBe('nothing was to do\n')
    for (const store of [await openBrokerStore(own.options('broker')), await openControllersStore(own.options('desk'))]) {
      closing.push(store.close)
      expect(await store.healthy()).toBe(true)
    }
  })

  test('names what is missing, and no secret', async () => {
    expect(await run({})).toMatch(/SEKISHO_DATABASE_OWNER_URL is not set/)
    const [user, password] = ['nobody', 'secret-password']
    const url = postgres.url(database.name, { name: user, password }).reveal()
    const answer = await run({ SEKISHO_DATABASE_OWNER_URL: url })
    expect(answer).toMatch(/^SEKISHO_DATABASE_OWNER_URL: password authentication failed for user "nobody"/)
    expect(answer).not.toContain(password)
    const short = { SEKISHO_DATABASE_OWNER_URL: postgres.url(database.name).reveal(), SEKISHO_DESK_DATABASE_PASSWORD: 'short' }
    expect(await run(short)).toMatch(/^SEKISHO_DESK_DATABASE_PASSWORD must be 8 to 200 printable ASCII characters/)
  })
})
