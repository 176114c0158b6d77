// The adapter on a real server: what a tenant's login can do, and everything that it tries and must not get.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../../dev/postgres/start-postgres.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import { judge } from '../../proofs/judge.ts'
import { instanceId, loginName, namesOf } from './identifiers.ts'
import { dropInstance, ensureExtensions, ensureInstance, isAsWanted } from './instances.ts'
import { type Access, actsAs, dropLogin, ensureLogin, liveLogins } from './logins.ts'
import { lookAt, measure } from './look.ts'
import { observe } from './proof.ts'
import { type Credential, connectServer, type Server } from './server.ts'
import { checkServer } from './server-check.ts'

const password = new SecretString('a-password-of-the-tests')

describe.skipIf(process.env['SEKISHO_TEST_POSTGRES'] === 'skip')('a shared server', () => {
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

  /** An instance with a login. */
  async function instance(
    access: Access = 'ReadWrite',
    id = instanceId({ tenantUid: `t${count++}`, namespace: 'n', name: 'db' }),
  ) {
    await ensureInstance(server, { id, connections: 5 }, true)
    const name = loginName(`${id}${access}`, 'a')
    await ensureLogin(server, { id, name, access, connections: 5 }, password)
    return { id, credential: { username: name, password }, expected: { login: name, role: actsAs({ id, access }) } }
  }
  const run = (credential: Credential, database: string, ...statements: string[]) =>
    server.asLogin(credential, database, async session => {
      for (const statement of statements.slice(0, -1)) await session.query(statement)
      return session.query(statements.at(-1) ?? 'SELECT 1 AS one')
    })
  const asAdmin = (sql: string) => server.asAdministrator(session => session.query(sql))

  test('names say nothing of a tenant, and are the same each time', () => {
    const owner = { tenantUid: 'u', namespace: 'acme', name: 'shop' }
    expect(instanceId(owner)).toMatch(/^s[a-z2-7]{26}$/)
    expect(instanceId(owner)).toBe(instanceId({ ...owner }))
    expect(instanceId({ ...owner, namespace: 'acmes', name: 'hop' })).not.toBe(instanceId(owner))
  })

  test('the server is closed to everybody, and says what it is', async () => {
    await asAdmin('GRANT CONNECT ON DATABASE postgres TO PUBLIC')
    expect(await checkServer(server)).toMatchObject({ isSuperuser: true, acceptsWrites: true, open: [] })
    await asAdmin('CREATE DATABASE somebodys')
    expect((await checkServer(server)).open).toEqual(['somebodys'])
    await asAdmin('DROP DATABASE somebodys')
  })

  test('made twice it is the same; what is lost is said, and what is not the platform’s left alone', async () => {
    const { id } = await instance()
    expect(await ensureInstance(server, { id, connections: 7 }, true)).toBe('present')
    expect(await asAdmin(`SELECT datconnlimit AS n FROM pg_database WHERE datname = '${id}'`)).toEqual([{ n: 14 }])
    await asAdmin(`GRANT CONNECT ON DATABASE ${id} TO PUBLIC`)
    await ensureInstance(server, { id, connections: 7 }, false)
    expect((await checkServer(server)).open).toEqual([])
    const lost = instanceId({ tenantUid: 'lost', namespace: 'n', name: 'db' })
    expect(await ensureInstance(server, { id: lost, connections: 5 }, false)).toBe('missing')
    await asAdmin('CREATE ROLE somebody')
    await asAdmin(`CREATE DATABASE ${lost} OWNER somebody`)
    expect(await ensureInstance(server, { id: lost, connections: 5 }, true)).toBe('foreign')
    await dropInstance(server, lost)
    expect(await asAdmin(`SELECT 1 AS n FROM pg_database WHERE datname = '${lost}'`)).toHaveLength(1)
    await asAdmin(`DROP DATABASE ${lost}`)
  })

  test('a database that broke off between two steps is completed, and nobody was let in', async () => {
    const id = instanceId({ tenantUid: 'half', namespace: 'n', name: 'db' })
    await asAdmin(`CREATE DATABASE ${id} TEMPLATE template0 ALLOW_CONNECTIONS false`)
    expect(await ensureInstance(server, { id, connections: 5 }, true)).toBe('made')
    const { credential, expected } = await instance('ReadWrite', id)
    expect(judge('ReadWrite', expected, await observe(server, id, credential))).toEqual({ kind: 'proven' })
  })

  test.each<Access>(['ReadWrite', 'ReadOnly'])('a login with %s is proven to have that and nothing else', async access => {
    const { id, credential, expected } = await instance(access)
    expect(judge(access, expected, await observe(server, id, credential))).toEqual({ kind: 'proven' })
    expect((await checkServer(server)).open).toEqual([])
    expect(await run(credential, id, `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'proof%'`)).toEqual([])
  })

  test.each<[string, (login: string, owner: string) => string]>([
    ['may enter another database', login => `GRANT CONNECT ON DATABASE postgres TO ${login}`],
    ['runs programs of the server', login => `GRANT pg_execute_server_program TO ${login}`],
    ['makes databases', login => `ALTER ROLE ${login} CREATEDB`],
    ['acts as a role that makes databases', (_, owner) => `ALTER ROLE ${owner} CREATEDB`],
  ])('a login that %s is not proven', async (_, grant) => {
    const { id, credential, expected } = await instance()
    await asAdmin(grant(credential.username, namesOf(id).owner))
    expect(judge('ReadWrite', expected, await observe(server, id, credential))).toMatchObject({ kind: 'wider' })
    await asAdmin(`REVOKE CONNECT ON DATABASE postgres FROM ${credential.username}`)
    await dropLogin(server, id, credential.username)
  })

  test('a reader that was made an owner is not proven, and made again it is a reader', async () => {
    const { id, credential, expected } = await instance('ReadOnly')
    await asAdmin(`GRANT ${namesOf(id).owner} TO ${credential.username}`)
    expect(judge('ReadOnly', expected, await observe(server, id, credential))).toMatchObject({ kind: 'wider' })
    await ensureLogin(server, { id, name: credential.username, access: 'ReadOnly', connections: 5 }, password)
    expect(judge('ReadOnly', expected, await observe(server, id, credential))).toEqual({ kind: 'proven' })
  })

  test('a reader makes no large object and writes into none; the owner does', async () => {
    const { id, credential } = await instance()
    const made = await run(credential, id, `SELECT lo_from_bytea(0, 'a')::int AS oid`)
    const reader = await instance('ReadOnly', id)
    await run(credential, id, `GRANT SELECT, UPDATE ON LARGE OBJECT ${made[0]?.['oid']} TO PUBLIC`)
    for (const statement of [
      'SELECT lo_creat(-1)',
      'SELECT lo_create(0)',
      `SELECT lo_from_bytea(0, 'b')`,
      `SELECT lo_put(${made[0]?.['oid']}, 0, 'b')`,
      `SELECT lowrite(lo_open(${made[0]?.['oid']}, 393216), 'b')`,
    ])
      for (const role of ['SELECT', 'SET ROLE NONE'])
        await expect(run(reader.credential, id, role, statement)).rejects.toMatchObject({ code: '42501' })
    const owner = namesOf(id).owner
    await server.asAdministrator(session => session.query('GRANT EXECUTE ON FUNCTION lo_creat(integer) TO PUBLIC'), id)
    expect(judge('ReadOnly', reader.expected, await observe(server, id, reader.credential))).toMatchObject({ kind: 'wider' })
    expect(await run(credential, id, `SELECT current_user::text AS role`)).toEqual([{ role: owner }])
  })

  test('a login that set itself as another session begins is as it was when it is made again', async () => {
    const { id, credential, expected } = await instance()
    const set = `ALTER ROLE ${credential.username} IN DATABASE ${id} SET`
    await run(credential, id, 'SET ROLE NONE', `${set} role = 'none'`, `${set} search_path = 'nowhere'`)
    await ensureLogin(server, { id, name: credential.username, access: 'ReadWrite', connections: 5 }, password)
    expect(await run(credential, id, 'SHOW search_path')).toEqual([{ search_path: '"$user", public' }])
    expect(judge('ReadWrite', expected, await observe(server, id, credential))).toEqual({ kind: 'proven' })
  })

  test('a wrong password is not proven', async () => {
    const { id, credential, expected } = await instance()
    const wrong = { ...credential, password: new SecretString('another-password') }
    expect(judge('ReadWrite', expected, await observe(server, id, wrong))).toMatchObject({ kind: 'narrower' })
  })

  test('what the reader reads is what the writer made, whichever slot made it', async () => {
    const { id, credential } = await instance()
    await run(credential, id, 'CREATE TABLE orders (id int)', 'INSERT INTO orders VALUES (7)')
    const reader = await instance('ReadOnly', id)
    expect(await run(reader.credential, id, 'SELECT id FROM orders')).toEqual([{ id: 7 }])
    await expect(run(reader.credential, id, 'INSERT INTO orders VALUES (8)')).rejects.toMatchObject({ code: '42501' })
    await dropLogin(server, id, credential.username)
    const other = loginName(id, 'b')
    await ensureLogin(server, { id, name: other, access: 'ReadWrite', connections: 5 }, password)
    expect(await run({ username: other, password }, id, 'DROP TABLE orders', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test.each([
    ['let everybody in', (id: string) => `GRANT CONNECT ON DATABASE ${id} TO PUBLIC`],
    ['drop the database', (id: string) => `DROP DATABASE ${id}`],
    ['change the database', (id: string) => `ALTER DATABASE ${id} CONNECTION LIMIT -1`],
    ['make a role', () => 'CREATE ROLE mine'],
    ['make a database', () => 'CREATE DATABASE mine'],
    ['run a program', () => `COPY (SELECT 1) TO PROGRAM 'true'`],
    ['read a file', () => `SELECT pg_read_file('postgresql.conf')`],
    ['subscribe to another server', () => `CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1' PUBLICATION p`],
    ['become the administrator', () => 'SET SESSION AUTHORIZATION owner'],
    ['connect out of the server', () => 'CREATE EXTENSION dblink'],
    ['make temporary files without bound', () => 'SET temp_file_limit = -1'],
  ])('a tenant cannot %s', async (_, statement) => {
    const { id, credential } = await instance()
    // PostgreSQL warns and grants nothing where it could refuse: what counts is who gets in.
    await run(credential, id, statement(id)).catch(() => undefined)
    expect((await checkServer(server)).open).toEqual([])
    const rows = await asAdmin(
      `SELECT (SELECT count(*)::int FROM pg_database WHERE datname = '${id}' AND datconnlimit = 10) AS own,
         (SELECT count(*)::int FROM pg_database WHERE datname = 'mine') + (SELECT count(*)::int FROM pg_roles WHERE rolname = 'mine') AS mine`,
    )
    expect(rows).toEqual([{ own: 1, mine: 0 }])
    if (!statement(id).startsWith('GRANT'))
      await expect(run(credential, id, statement(id))).rejects.toMatchObject({ code: expect.any(String) })
  })

  test('another tenant does not get in, nor into the databases of the server', async () => {
    const [first, second] = [await instance(), await instance()]
    for (const database of [second.id, 'postgres', 'template1'])
      await expect(run(first.credential, database)).rejects.toMatchObject({ code: '42501' })
  })

  test('a login ends with its sessions, also when it owns things and was given rights', async () => {
    const { id, credential } = await instance()
    const url = new URL(postgres.url(id, { name: credential.username, password: password.reveal() }).reveal())
    const session = new pg.Client({ connectionString: url.href })
    const broken = new Promise(resolve => session.on('error', resolve))
    await session.connect()
    await session.query('CREATE TABLE t (id int)')
    await session.query(`GRANT SELECT ON t TO ${credential.username}`)
    await session.query('SET ROLE NONE')
    await session.query('ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC')
    expect(await liveLogins(server, [credential.username, 'l_absent'])).toEqual(new Map([[credential.username, 1]]))
    await dropLogin(server, id, credential.username)
    await broken
    expect(await liveLogins(server, [credential.username])).toEqual(new Map())
    expect(await asAdmin(`SELECT rolname FROM pg_roles WHERE rolname = '${credential.username}' OR rolname LIKE 't_%'`)).toEqual(
      [],
    )
    await expect(run(credential, id)).rejects.toMatchObject({ code: '28P01' })
    await dropLogin(server, id, credential.username)
  })

  test('twenty rotations under four writers: no write fails', async () => {
    const { id, credential } = await instance()
    await run(credential, id, 'CREATE TABLE writes (n int)')
    let current = credential
    let isOver = false
    const written = [0, 0, 0, 0]
    const writer = async (_: number, mine: number): Promise<void> => {
      while (!isOver) {
        await run(current, id, 'INSERT INTO writes VALUES (1)')
        written[mine] = (written[mine] ?? 0) + 1
      }
    }
    const writers = Promise.all(written.map(writer))
    for (let round = 0; round < 20; round++) {
      const next = { username: loginName(`${id}rotation`, round % 2 === 0 ? 'b' : 'a'), password }
      await ensureLogin(server, { id, name: next.username, access: 'ReadWrite', connections: 5 }, password)
      const [before, seen] = [current, [...written]]
      current = next
      // Each has begun anew since, so that nobody holds the former one.
      await waitUntil(
        'every writer to come round',
        async () => written.every((count, mine) => count >= (seen[mine] ?? 0) + 2) || undefined,
      )
      await dropLogin(server, id, before.username)
    }
    isOver = true
    await writers
    const total = written.reduce((sum, count) => sum + count, 0)
    expect(await run(current, id, 'SELECT count(*)::int AS n FROM writes')).toEqual([{ n: total }])
    expect(total).toBeGreaterThan(100)
  })

  test('extensions are made with the tenant’s rights; one that is not trusted is refused', async () => {
    const { id, credential } = await instance()
    await ensureExtensions(server, id, ['pgcrypto', 'uuid-ossp'])
    await ensureExtensions(server, id, ['pgcrypto'])
    expect(
      await run(credential, id, `SELECT count(*)::int AS n FROM pg_extension WHERE extname IN ('pgcrypto', 'uuid-ossp')`),
    ).toEqual([{ n: 2 }])
    await expect(ensureExtensions(server, id, ['dblink'])).rejects.toMatchObject({ code: '42501' })
    await expect(ensureExtensions(server, id, ['x"; DROP'])).rejects.toThrow('not the name of an extension')
    expect(await asAdmin(`SELECT rolname FROM pg_roles WHERE rolname LIKE 't\\_%'`)).toEqual([])
  })

  test('one look says what the server is, and of all that is asked about whether it is as wanted, and its size', async () => {
    const [{ id, credential }, changed] = [await instance(), await instance('ReadOnly')]
    await asAdmin(`ALTER ROLE ${changed.credential.username} NOLOGIN`)
    await asAdmin(`ALTER DATABASE ${changed.id} CONNECTION LIMIT 7`)
    const followed = server.changes.follow()
    const look = await lookAt(server, { ids: [id, changed.id, 'sabsent'], withSizes: true })
    expect(look?.server).toEqual(await checkServer(server))
    const ofWanted = (name: string) => {
      const found = look?.databases.get(name)
      return found && isAsWanted(found, { connections: 5 })
    }
    expect([id, changed.id, 'sabsent'].map(ofWanted)).toEqual([true, false, undefined])
    expect([credential, changed.credential].map(({ username }) => look?.logins.has(username))).toEqual([true, false])
    expect([...(look?.sizes?.keys() ?? [])].toSorted()).toEqual([id, changed.id].toSorted())
    expect(look?.sizes?.get(id)).toBeGreaterThan(1_000_000)
    expect(await measure(server, [id, changed.id, 'sabsent'])).toEqual(look?.sizes)
    // To look changes nothing; what changes something says so.
    expect([id, credential.username].map(followed.has)).toEqual([false, false])
    await ensureInstance(server, { id, connections: 5 }, true)
    expect(followed.has(id)).toBe(false)
    await ensureInstance(server, { id, connections: 6 }, true)
    await dropLogin(server, id, credential.username)
    expect([id, credential.username, changed.id].map(followed.has)).toEqual([true, true, false])
  })

  test('nothing of an instance is left, also under an open session', async () => {
    const { id, credential } = await instance()
    const url = postgres.url(id, { name: credential.username, password: password.reveal() }).reveal()
    const session = new pg.Client({ connectionString: url })
    session.on('error', () => undefined)
    await session.connect()
    await dropInstance(server, id)
    await dropInstance(server, id)
    const left = await asAdmin(
      `SELECT datname AS name FROM pg_database WHERE datname = '${id}' UNION SELECT rolname FROM pg_roles WHERE rolname LIKE '%${id}%' OR rolname = '${credential.username}'`,
    )
    expect(left).toEqual([])
  })

  /** A session of its own that breaks when the server ends it. */
  async function openSession(credential: Credential, database: string) {
    const client = new pg.Client({
      connectionString: postgres.url(database, { name: credential.username, password: password.reveal() }).reveal(),
    })
    const broken = new Promise<void>(resolve => client.on('error', () => resolve()))
    await client.connect()
    onTestFinished(() => client.end().catch(() => undefined))
    return { client, broken }
  }
  const grantsTo = ({ id, credential }: Awaited<ReturnType<typeof instance>>) => {
    const { owner, reader } = namesOf(id)
    return `GRANT SELECT ON bait TO ${owner}, ${reader}, ${credential.username}`
  }
  const rolesLike = (id: string, login: string) =>
    asAdmin(
      `SELECT rolname AS name, rolcanlogin OR rolpassword IS NOT NULL
         OR EXISTS (SELECT FROM pg_auth_members WHERE member = pg_authid.oid) AS "isAlive"
       FROM pg_authid WHERE rolname LIKE '%${id}%' OR rolname = '${login}' ORDER BY 1`,
    )

  test('what another tenant grants to the roles of an instance does not keep it from ending', async () => {
    const [own, other] = [await instance(), await instance()]
    await run(other.credential, other.id, 'CREATE TABLE bait (id int)', grantsTo(own), 'SELECT')
    for (const _ of ['once', 'again']) {
      await dropInstance(server, own.id)
      expect(await asAdmin(`SELECT FROM pg_database WHERE datname = '${own.id}'`)).toEqual([])
      const left = [own.credential.username, namesOf(own.id).owner, namesOf(own.id).reader].sort()
      expect(await rolesLike(own.id, own.credential.username)).toEqual(left.map(name => ({ name, isAlive: false })))
    }
    await expect(run(own.credential, other.id)).rejects.toMatchObject({ code: '28P01' })
    // What is left does not keep an instance of this id from being made again.
    expect(await ensureInstance(server, { id: own.id, connections: 5 }, true)).toBe('made')
    const { credential, expected } = await instance('ReadWrite', own.id)
    expect(judge('ReadWrite', expected, await observe(server, own.id, credential))).toEqual({ kind: 'proven' })
  })

  test('grants in transactions that stay open hold up neither the end of a login, nor of an instance, nor other tenants', async () => {
    const [own, other] = [await instance(), await instance()]
    const { client } = await openSession(other.credential, other.id)
    await client.query('CREATE TABLE bait (id int)')
    await client.query('BEGIN')
    await client.query(grantsTo(own))
    // A statement that waited for it would be canceled, and this reject.
    await dropLogin(server, own.id, own.credential.username)
    expect(await liveLogins(server, [own.credential.username])).toEqual(new Map())
    await ensureLogin(server, { id: own.id, name: own.credential.username, access: 'ReadWrite', connections: 5 }, password)
    expect(judge('ReadWrite', own.expected, await observe(server, own.id, own.credential))).toEqual({ kind: 'proven' })
    await dropInstance(server, own.id)
    expect(await rolesLike(own.id, own.credential.username)).not.toContainEqual(expect.objectContaining({ isAlive: true }))
    await client.query('ROLLBACK')
    await dropInstance(server, own.id)
    const { owner, reader } = namesOf(own.id)
    expect(await asAdmin(`SELECT FROM pg_roles WHERE rolname IN ('${owner}', '${reader}')`)).toEqual([])
  })

  test('a login that locks its own role ends', async () => {
    const { id, credential } = await instance()
    const { client, broken } = await openSession(credential, id)
    await client.query('SET ROLE NONE')
    await client.query('BEGIN')
    await client.query(`ALTER ROLE ${credential.username} PASSWORD 'another'`)
    await dropLogin(server, id, credential.username)
    await broken
    expect(await asAdmin(`SELECT FROM pg_roles WHERE rolname = '${credential.username}'`)).toEqual([])
  })

  test('a login whose end broke off loses its sessions the next time', async () => {
    const { id, credential } = await instance()
    const { broken } = await openSession(credential, id)
    await asAdmin(`ALTER ROLE ${credential.username} NOLOGIN PASSWORD NULL`)
    await dropLogin(server, id, credential.username)
    await broken
  })

  test('a database that cannot be cleaned keeps the role of a login, not the login; the role goes with it', async () => {
    const { id, credential } = await instance()
    const { client, broken } = await openSession(credential, id)
    await client.query('SET ROLE NONE')
    await client.query('ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC')
    await asAdmin(`ALTER DATABASE ${id} CONNECTION LIMIT 0`)
    await dropLogin(server, id, credential.username)
    await broken
    expect(await liveLogins(server, [credential.username])).toEqual(new Map())
    await dropInstance(server, id)
    expect(await rolesLike(id, credential.username)).toEqual([])
  })

  test('a role of the administrator’s own that was let into an instance stays when the instance ends', async () => {
    const { id } = await instance()
    await asAdmin('CREATE ROLE auditor')
    await asAdmin(`GRANT ${namesOf(id).reader} TO auditor`)
    await dropInstance(server, id)
    expect(await asAdmin(`SELECT rolname FROM pg_roles WHERE rolname = 'auditor'`)).toHaveLength(1)
    await asAdmin('DROP ROLE auditor')
  })

  test('a server that is away is said to be, without its administrator’s password', async () => {
    const away = connectServer(
      { host: '127.0.0.1', port: 1 },
      { username: 'owner', password: new SecretString('the-admin-password') },
    )
    const error = await checkServer(away).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('cannot be reached') })
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('the-admin-password')
    await away.close()
  })
})
