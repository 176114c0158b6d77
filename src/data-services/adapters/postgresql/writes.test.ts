// The end of writes on a real server: a database is filled, its logins read and delete, and write again.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../../dev/postgres/start-postgres.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { judge } from '../../proofs/judge.ts'
import { instanceId, loginName, namesOf } from './identifiers.ts'
import { dropInstance, ensureInstance, keepInstance } from './instances.ts'
import { dropLogin, ensureLogin } from './logins.ts'
import { measure } from './look.ts'
import { observe } from './proof.ts'
import { type Credential, connectServer, type Server } from './server.ts'
import { checkServer } from './server-check.ts'
import { allowWrites, endWrites, haveEnded } from './writes.ts'

const password = new SecretString('a-password-of-the-tests')
const refused = { code: '42501' }

describe.skipIf(process.env['SEKISHO_TEST_POSTGRES'] === 'skip')('on a shared server', () => {
  let postgres: TestPostgres
  let server: Server
  let count = 0

  beforeAll(async () => {
    postgres = await startPostgres()
    const url = new URL(postgres.url('postgres').reveal())
    const administrator = { username: url.username, password: new SecretString(url.password) }
    server = connectServer({ host: url.hostname, port: Number(url.port) }, administrator)
    await checkServer(server)
  })
  afterAll(async () => {
    await server?.close()
    await postgres?.stop()
  })

  const asAdmin = (sql: string) => server.asAdministrator(session => session.query(sql))
  const run = (credential: Credential, database: string, ...statements: string[]) =>
    server.asLogin(credential, database, async session => {
      for (const statement of statements.slice(0, -1)) await session.query(statement)
      return session.query(statements.at(-1) ?? 'SELECT 1 AS one')
    })

  async function login(id: string, slot: 'a' | 'b', access: 'ReadWrite' | 'ReadOnly' = 'ReadWrite') {
    const name = loginName(`${id}${access}`, slot)
    const role = await ensureLogin(server, { id, name, access, connections: 5 }, password)
    return { credential: { username: name, password }, role }
  }

  async function instance() {
    const id = instanceId({ tenantUid: `t${count++}`, namespace: 'n', name: 'db' })
    await ensureInstance(server, { id, connections: 5 }, true)
    return { id, ...(await login(id, 'a')) }
  }

  const fill = 'CREATE TABLE filled AS SELECT repeat(md5(n::text), 40) AS text FROM generate_series(1, 20000) n'

  test('a database is filled, and emptied without writes; then they come back', async () => {
    const { id, credential } = await instance()
    const size = async (): Promise<number> => (await measure(server, [id])).get(id) ?? 0
    const empty = await size()
    await run(credential, id, 'CREATE SCHEMA "od""d;"', 'CREATE TABLE "od""d;"."x""; y" AS SELECT 1 AS id', fill)
    expect(await size()).toBeGreaterThan(empty + 20_000_000)
    await endWrites(server, id)
    expect(await haveEnded(server, id)).toBe(true)
    for (const statement of [
      `INSERT INTO filled VALUES ('x')`,
      `UPDATE filled SET text = 'x'`,
      'CREATE TABLE more (id int)',
      'CREATE TEMPORARY TABLE more (id int)',
      'CREATE SCHEMA more',
      'SELECT lo_creat(-1)',
      `SET ROLE ${namesOf(id).owner}`,
      `ALTER TABLE filled ADD COLUMN more text DEFAULT 'x'`,
    ])
      await expect(run(credential, id, statement), statement).rejects.toMatchObject(refused)
    // PostgreSQL warns, and grants nothing.
    await run(credential, id, `GRANT INSERT ON filled TO ${credential.username}`)
    await expect(run(credential, id, `INSERT INTO filled VALUES ('x')`)).rejects.toMatchObject(refused)
    expect(await run(credential, id, 'SELECT count(*)::int AS n FROM filled')).toEqual([{ n: 20_000 }])
    expect(await run(credential, id, 'DELETE FROM "od""d;"."x""; y" RETURNING id')).toEqual([{ id: 1 }])
    await run(credential, id, 'TRUNCATE filled')
    expect(await size()).toBeLessThan(empty + 5_000_000)
    await allowWrites(server, id)
    expect(await haveEnded(server, id)).toBe(false)
    await run(credential, id, `INSERT INTO filled VALUES ('x')`, 'CREATE TABLE more (id int)')
    expect(await run(credential, id, 'SELECT current_user::text AS role')).toEqual([{ role: namesOf(id).owner }])
  })

  test('sessions that write are over, and a login that owns things loses them to the tenant’s role', async () => {
    const { id, credential } = await instance()
    await run(credential, id, `GRANT CREATE ON SCHEMA public TO ${credential.username}`)
    await run(credential, id, 'SET ROLE NONE', 'CREATE TABLE public.own (id int)')
    const url = postgres.url(id, { name: credential.username, password: password.reveal() }).reveal()
    const session = new pg.Client({ connectionString: url })
    const broken = new Promise(resolve => session.on('error', resolve))
    await session.connect()
    onTestFinished(() => session.end().catch(() => undefined))
    await endWrites(server, id)
    await broken
    await expect(run(credential, id, 'SET ROLE NONE', 'INSERT INTO public.own VALUES (1)')).rejects.toMatchObject(refused)
  })

  test('a session that holds a lock on its own role, and an application that comes back at once, keep nothing from ending', async () => {
    const { id, credential } = await instance()
    const url = postgres.url(id, { name: credential.username, password: password.reveal() }).reveal()
    const holder = new pg.Client({ connectionString: url })
    holder.on('error', () => undefined)
    await holder.connect()
    onTestFinished(() => holder.end().catch(() => undefined))
    for (const sql of ['SET ROLE NONE', 'BEGIN', `ALTER ROLE ${credential.username} SET work_mem = '5MB'`])
      await holder.query(sql)
    let isOver = false
    const busy = (async () => {
      while (!isOver) await run(credential, id, 'SELECT 1').catch(() => undefined)
    })()
    await endWrites(server, id)
    await expect(run(credential, id, 'CREATE TABLE more (id int)')).rejects.toMatchObject(refused)
    await allowWrites(server, id)
    isOver = true
    await busy
    await run(credential, id, 'CREATE TABLE more (id int)')
  })

  test('a credential that is issued meanwhile is proven to read and to delete only; one that slipped in is found', async () => {
    const { id } = await instance()
    await endWrites(server, id)
    const { credential, role } = await login(id, 'b')
    expect(role).toBe(namesOf(id).remover)
    const expected = { login: credential.username, role }
    expect(judge('ReadOnly', expected, await observe(server, id, credential))).toEqual({ kind: 'proven' })
    const reader = await login(id, 'a', 'ReadOnly')
    expect(reader.role).toBe(namesOf(id).reader)
    // As when it was made between the look and the change.
    const { owner, remover } = namesOf(id)
    await asAdmin(`REVOKE ${remover} FROM ${credential.username}`)
    await asAdmin(`GRANT ${owner} TO ${credential.username}`)
    await asAdmin(`ALTER ROLE ${credential.username} SET role = '${owner}'`)
    await endWrites(server, id)
    await expect(run(credential, id, 'CREATE TABLE more (id int)')).rejects.toMatchObject(refused)
    await allowWrites(server, id)
    expect(await run(credential, id, 'SELECT current_user::text AS role')).toEqual([{ role: owner }])
  })

  test.each(['end', 'allow'] as const)('%s: what broke off is done again', async what => {
    const { id, credential } = await instance()
    await endWrites(server, id)
    const { owner, remover } = namesOf(id)
    // Half of it, as a crash leaves it.
    await asAdmin(`COMMENT ON ROLE ${remover} IS 'changing'`)
    await asAdmin(`REVOKE ${remover} FROM ${credential.username}`)
    await asAdmin(`GRANT ${owner} TO ${credential.username}`)
    expect(await haveEnded(server, id)).toBe(true)
    if (what === 'end') {
      await endWrites(server, id)
      await expect(run(credential, id, 'CREATE TABLE more (id int)')).rejects.toMatchObject(refused)
    } else {
      await login(id, 'a')
      await allowWrites(server, id)
      await run(credential, id, 'CREATE TABLE more (id int)')
    }
  })

  test('done twice it changes nothing, and ends no session', async () => {
    const { id, credential } = await instance()
    await allowWrites(server, id)
    await endWrites(server, id)
    expect(
      await server.asLogin(credential, id, async session => {
        await endWrites(server, id)
        return session.query('SELECT 1 AS one')
      }),
    ).toEqual([{ one: 1 }])
  })

  test('nothing of it is left when a login, and when the instance ends', async () => {
    const { id, credential } = await instance()
    await endWrites(server, id)
    await dropLogin(server, id, credential.username)
    await expect(run(credential, id)).rejects.toMatchObject({ code: '28P01' })
    await login(id, 'b')
    await dropInstance(server, id)
    expect(await asAdmin(`SELECT rolname FROM pg_roles WHERE rolname LIKE '%${id}' OR rolname LIKE 'l\\_%'`)).not.toContainEqual(
      expect.objectContaining({ rolname: expect.stringContaining(id) }),
    )
  })

  test('a tenant has so many kept databases and no more; one that is used again does not count', async () => {
    const since = new Date('2026-01-02T03:04:05Z')
    const keep = (id: string, tenantUid = 'keeps') => keepInstance(server, id, { tenantUid, most: 2, since })
    const [first, second, third] = [await instance(), await instance(), await instance()]
    expect([await keep(first.id), await keep(second.id), await keep(first.id)]).toEqual([true, true, true])
    expect(await keep(third.id)).toBe(false)
    expect(await keep(third.id, 'another')).toBe(true)
    expect(await keep('s'.padEnd(27, 'a'))).toBe(true)
    const marks = await asAdmin(
      `SELECT shobj_description(oid, 'pg_database') AS mark FROM pg_database WHERE datname = '${first.id}'`,
    )
    expect(marks).toEqual([{ mark: expect.stringMatching(/^sekisho kept [a-z2-7]{26} 2026-01-02$/) }])
    expect(await ensureInstance(server, { id: first.id, connections: 5 }, false)).toBe('present')
    expect(await run(first.credential, first.id, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await dropInstance(server, third.id)
    const fourth = await instance()
    expect([await keep(fourth.id), await keep(first.id)]).toEqual([true, false])
  })
})
