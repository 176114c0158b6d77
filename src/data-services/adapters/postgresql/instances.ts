// Databases of tenants on a shared server. The platform owns each; the tenant's role owns its schemas. An owner of a database
// could let every other tenant in by GRANT CONNECT … TO PUBLIC, so it never is the tenant. The administrator enters a
// database only until it is marked as made, which is before any login of the tenant exists: no code of a tenant ever runs
// with its rights.
import { type InstanceNames, namesOf, ownLogin, quoted, tenantMark } from './identifiers.ts'
import { membersOf, rolesOf } from './memberships.ts'
import { inTransaction, type Server, type Session } from './server.ts'
import { asTask, dropRole } from './task.ts'

export type WantedInstance = {
  readonly id: string
  /** Of one login at a time; the database takes twice as many, so that two slots fit. */
  readonly connections: number
}
/** `missing`: it is not there, and must not be made anew. `foreign`: a database of this name is not the platform's. */
export type Ensured = 'made' | 'present' | 'missing' | 'foreign'
/** What a database is compared by. `mark`: the beginning of the comment on it. */
export type FoundDatabase = {
  readonly own: boolean
  readonly mark: string | null
  readonly connectionLimit: number
  readonly isOpen: boolean
}

/** Of `pg_database`. */
export const foundColumns = `pg_get_userbyid(datdba) = current_user AS own, left(shobj_description(oid, 'pg_database'), 100) AS mark,
  datconnlimit AS "connectionLimit", has_database_privilege('public', oid, 'CONNECT') AS "isOpen"`

/** The comment on a database that is complete; anybody on the server can read it. */
const completeMark = 'sekisho'
/** The beginning of the comment on one that was kept; then what stands for its Tenant, and since when. */
const keptMark = 'sekisho kept '

/**
 * Makes the database and its roles, or completes them; again it changes nothing. `mayCreate` is false for an instance that was
 * complete once: what was lost is said and never replaced by something empty.
 */
export async function ensureInstance(server: Server, wanted: WantedInstance, mayCreate: boolean): Promise<Ensured> {
  const names = namesOf(wanted.id)
  const limit = connectionLimitOf(wanted)
  const found = await server.asAdministrator(session => findDatabase(session, names.database))
  if (found !== undefined && !found.own) return 'foreign'
  if (found === undefined && !mayCreate) return 'missing'
  if (found !== undefined && isComplete(found)) {
    if (found.mark !== completeMark) await server.asAdministrator(session => mark(session, names.database, completeMark))
    if (found.connectionLimit !== limit) await server.asAdministrator(session => limitConnections(session, names.database, limit))
    if (found.isOpen) await server.asAdministrator(session => closeToPublic(session, names))
    return 'present'
  }
  await server.asAdministrator(async session => {
    await inTransaction(session, async () => {
      await ensureRole(session, names.owner)
      await ensureRole(session, names.reader)
    })
    // Nobody can enter until everybody but the tenant's roles is kept out.
    const settings = `TEMPLATE template0 ENCODING 'UTF8' ALLOW_CONNECTIONS false CONNECTION LIMIT ${Number(limit)}`
    if (found === undefined) await session.query(`CREATE DATABASE ${quoted(names.database)} ${settings}`)
    await inTransaction(session, async () => {
      await closeToPublic(session, names)
      await session.query(`ALTER DATABASE ${quoted(names.database)} ALLOW_CONNECTIONS true`)
    })
  })
  const fill = (session: Session): Promise<void> => inTransaction(session, () => fillDatabase(session, names))
  await server.asAdministrator(fill, names.database)
  await server.asAdministrator(session => mark(session, names.database, completeMark))
  return 'made'
}

function isComplete({ mark: found }: FoundDatabase): boolean {
  return found === completeMark || found?.startsWith(keptMark) === true
}

/** So that two slots fit. */
function connectionLimitOf({ connections }: Pick<WantedInstance, 'connections'>): number {
  return connections * 2
}

/** Whether `ensureInstance` would change nothing. Pure. */
export function isAsWanted(found: FoundDatabase, wanted: Pick<WantedInstance, 'connections'>): boolean {
  return found.own && found.mark === completeMark && found.connectionLimit === connectionLimitOf(wanted) && !found.isOpen
}

/** `text` has no quotes. */
async function mark(session: Session, database: string, text: string): Promise<void> {
  await session.query(`COMMENT ON DATABASE ${quoted(database)} IS '${text}'`)
}

export type Kept = { readonly tenantUid: string; readonly most: number; readonly since: Date }

/**
 * Marks the database as one that nobody uses, for who looks at the server, unless the tenant has as many of those as it may have.
 * One that is marked, or is not there, counts as done. Resolves to whether it is kept.
 */
export function keepInstance(server: Server, id: string, { tenantUid, most, since }: Kept): Promise<boolean> {
  const prefix = `${keptMark}${tenantMark(tenantUid)} `
  return server.asAdministrator(session =>
    inTransaction(session, async () => {
      await session.query('SELECT pg_advisory_xact_lock(hashtext($1))', [prefix])
      const [found] = await session.query<{ others: number; isKept: boolean; isThere: boolean }>(
        `SELECT count(*) FILTER (WHERE datname <> $1 AND mark LIKE $2 || '%')::int AS others,
           coalesce(bool_or(datname = $1 AND mark LIKE $2 || '%'), false) AS "isKept",
           coalesce(bool_or(datname = $1 AND pg_get_userbyid(datdba) = current_user), false) AS "isThere"
         FROM (SELECT datname, datdba, coalesce(shobj_description(oid, 'pg_database'), '') AS mark FROM pg_database) known`,
        [id, prefix],
      )
      if (found?.isKept === true || found?.isThere !== true) return true
      if (found.others >= most) return false
      await mark(session, id, `${prefix}${since.toISOString().slice(0, 10)}`)
      return true
    }),
  )
}

async function findDatabase(session: Session, database: string): Promise<FoundDatabase | undefined> {
  const [found] = await session.query<FoundDatabase>(`SELECT ${foundColumns} FROM pg_database WHERE datname = $1`, [database])
  return found
}

async function limitConnections(session: Session, database: string, limit: number): Promise<void> {
  await session.query(`ALTER DATABASE ${quoted(database)} CONNECTION LIMIT ${Number(limit)}`)
}

async function ensureRole(session: Session, role: string): Promise<void> {
  const rows = await session.query('SELECT FROM pg_roles WHERE rolname = $1', [role])
  if (rows.length === 0) await session.query(`CREATE ROLE ${quoted(role)} NOLOGIN`)
}

async function closeToPublic(session: Session, { database, owner, reader }: InstanceNames): Promise<void> {
  await session.query(`REVOKE ALL ON DATABASE ${quoted(database)} FROM PUBLIC`)
  await session.query(`GRANT CONNECT, CREATE, TEMPORARY ON DATABASE ${quoted(database)} TO ${quoted(owner)}`)
  await session.query(`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(reader)}`)
}

/** What makes large objects and writes into them, in every database and for everybody, which no schema can forbid. */
const largeObjectWriters = [
  'lo_creat(integer)',
  'lo_create(oid)',
  'lo_from_bytea(oid, bytea)',
  'lo_put(oid, bigint, bytea)',
  'lowrite(integer, bytea)',
]
  .map(name => `pg_catalog.${name}`)
  .join(', ')

/** Inside of the new database, which no login of the tenant can have entered. */
async function fillDatabase(session: Session, { owner, reader }: InstanceNames): Promise<void> {
  const of = `ALTER DEFAULT PRIVILEGES FOR ROLE ${quoted(owner)} GRANT`
  await session.query(`ALTER SCHEMA public OWNER TO ${quoted(owner)}`)
  await session.query('REVOKE ALL ON SCHEMA public FROM PUBLIC')
  await session.query(`GRANT USAGE ON SCHEMA public TO ${quoted(reader)}`)
  await session.query(`${of} SELECT ON TABLES TO ${quoted(reader)}`)
  await session.query(`${of} SELECT ON SEQUENCES TO ${quoted(reader)}`)
  await session.query(`REVOKE EXECUTE ON FUNCTION ${largeObjectWriters} FROM PUBLIC`)
  await session.query(`GRANT EXECUTE ON FUNCTION ${largeObjectWriters} TO ${quoted(owner)}`)
}

/**
 * Makes the extensions that are not there, with the rights of the tenant's role: only trusted ones can be made so. Rejects with
 * PostgreSQL's error for one that the server does not have.
 */
export async function ensureExtensions(server: Server, id: string, extensions: readonly string[]): Promise<void> {
  if (extensions.length === 0) return
  await asTask(server, id, [], async session => {
    await session.query(`SET ROLE ${quoted(namesOf(id).owner)}`)
    for (const extension of extensions)
      await session.query(`CREATE EXTENSION IF NOT EXISTS ${extensionName(extension)} SCHEMA public`)
  })
}

function extensionName(extension: string): string {
  if (!/^[a-z][a-z0-9_-]{0,62}$/.test(extension)) throw new Error('not the name of an extension')
  return `"${extension}"`
}

/**
 * Ends the database with all that is in it, its logins and its roles. Again it changes nothing; another's database is left
 * alone. A role to which another tenant granted something in its own database stays, and can do nothing: no login, no
 * password, no membership.
 */
export async function dropInstance(server: Server, id: string): Promise<void> {
  const names = namesOf(id)
  const found = await server.asAdministrator(session => findDatabase(session, names.database))
  if (found !== undefined && !found.own) return
  await server.asAdministrator(async session => {
    // With the database goes all that its own tenant granted to them, or owns by them.
    await session.query(`DROP DATABASE IF EXISTS ${quoted(names.database)} WITH (FORCE)`)
    for (const role of [...(await loginsOf(session, names)), names.owner, names.reader, names.remover]) {
      if (await dropRole(session, names.database, role)) continue
      for (const granted of await rolesOf(session, role)) await session.query(`REVOKE ${quoted(granted)} FROM ${quoted(role)}`)
    }
  })
}

/** Our own that are members of its roles: of bindings, and of tasks that broke off. */
async function loginsOf(session: Session, { owner, reader, remover }: InstanceNames): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const role of [owner, reader, remover]) for (const { name } of await membersOf(session, role, ownLogin)) names.add(name)
  return names
}
