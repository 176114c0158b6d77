// Whether the logins of an instance may write. Where writes ended, each acts as a role that reads, deletes and truncates, and is
// no member of the tenant's role any more; nobody takes a right from the owner of a table. What breaks off is done again by the
// mark on that role, which is set before the first change and says `ended` after the last.
import { loginPattern, namesOf, quoted } from './identifiers.ts'
import { joined, type Member, membersOf } from './memberships.ts'
import { inTransaction, type Server, type Session } from './server.ts'
import { asTask, endSessions } from './task.ts'

/** `changing`: a change broke off. Undefined: they may write. */
export type Mark = 'changing' | 'ended' | undefined

/** Of an instance: `ended` when `endWrites` would change nothing, `allowed` when `allowWrites` would. */
export type Writes = 'allowed' | 'changing' | 'ended'

/** Of `pg_database`. `logins`: what has the pattern of the names of logins. */
export function writesColumn(logins: string): string {
  const roleOf = (kind: 'owner' | 'remover') => `(SELECT oid FROM pg_roles WHERE rolname = '${namesOf('')[kind]}' || datname)`
  const writers = `SELECT FROM ${joined} WHERE roleid = ${roleOf('owner')} AND member.rolname ~ ${logins}`
  return `CASE shobj_description(${roleOf('remover')}, 'pg_authid') WHEN 'ended' THEN
      CASE WHEN EXISTS (${writers}) THEN 'changing' ELSE 'ended' END
    ELSE CASE WHEN shobj_description(${roleOf('remover')}, 'pg_authid') IS NULL THEN 'allowed' ELSE 'changing' END END AS writes`
}

export async function markOf(session: Session, id: string): Promise<Mark> {
  const sql = `SELECT shobj_description(oid, 'pg_authid') AS mark FROM pg_roles WHERE rolname = $1`
  const [row] = await session.query<{ mark: string | null }>(sql, [namesOf(id).remover])
  if (row === undefined || row.mark === null) return undefined
  return row.mark === 'ended' ? 'ended' : 'changing'
}

async function setMark(session: Session, id: string, mark: Mark): Promise<void> {
  await session.query(`COMMENT ON ROLE ${quoted(namesOf(id).remover)} IS ${mark === undefined ? 'NULL' : `'${mark}'`}`)
}

/** Whether writes ended, wholly or as far as a change came. */
export function haveEnded(server: Server, id: string): Promise<boolean> {
  return server.asAdministrator(async session => (await markOf(session, id)) !== undefined)
}

/**
 * Logins that write can only read, delete and truncate, and their sessions are over, when this resolves; also one that was made
 * meanwhile, when it is called again. Again it changes nothing.
 */
export async function endWrites(server: Server, id: string): Promise<void> {
  const { database, owner, remover } = namesOf(id)
  const writers = await server.asAdministrator(async session => {
    const found = await membersOf(session, owner, loginPattern)
    if (found.length === 0 && (await markOf(session, id)) === 'ended') return undefined
    if ((await session.query('SELECT FROM pg_roles WHERE rolname = $1', [remover])).length === 0)
      await session.query(`CREATE ROLE ${quoted(remover)} NOLOGIN`)
    await session.query(`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(remover)}`)
    await setMark(session, id, 'changing')
    return found
  })
  if (writers === undefined) return
  await moveLogins(server, writers, { database, from: owner, to: remover })
  const logins = await server.asAdministrator(session => letIn(session, database, remover))
  // With the tenant's own rights, and by names that the server itself quotes.
  await asTask(server, id, logins, async session => {
    for (const login of logins) await session.query(`REASSIGN OWNED BY ${quoted(login)} TO ${quoted(owner)}`)
    await session.query(`SET ROLE ${quoted(owner)}`)
    await session.query(grantRemoval(owner, remover))
  })
  await server.asAdministrator(session => setMark(session, id, 'ended'))
}

/** They may write again, as the tenant's role. Their sessions end, so that none goes on with less. Again it changes nothing. */
export async function allowWrites(server: Server, id: string): Promise<void> {
  const { database, owner, remover } = namesOf(id)
  const removers = await server.asAdministrator(async session => {
    if ((await markOf(session, id)) === undefined) return undefined
    await setMark(session, id, 'changing')
    return membersOf(session, remover, loginPattern)
  })
  if (removers === undefined) return
  await moveLogins(server, removers, { database, from: remover, to: owner })
  await server.asAdministrator(async session => {
    await letIn(session, database, owner)
    await setMark(session, id, undefined)
  })
}

type Move = { readonly database: string; readonly from: string; readonly to: string }

/** Each of them, also when one fails: rejects with the first failure then. */
async function moveLogins(server: Server, logins: readonly Member[], move: Move): Promise<void> {
  const failures: unknown[] = []
  for (const login of logins)
    await server.asAdministrator(session => moveLogin(session, login, move)).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/**
 * A session of the login can lock what its role has, and a busy one comes back at once: nobody enters until it is moved. The last
 * look ends a session that began before and was not listed yet.
 */
async function moveLogin(session: Session, { name, oid }: Member, { database, from, to }: Move): Promise<void> {
  const login = quoted(name)
  await session.query(`REVOKE CONNECT ON DATABASE ${quoted(database)} FROM ${login}`)
  await endSessions(session, oid)
  await inTransaction(session, async () => {
    await session.query(`REVOKE ${quoted(from)} FROM ${login}`)
    await session.query(`GRANT ${quoted(to)} TO ${login}`)
    await session.query(`ALTER ROLE ${login} SET role = '${to}'`)
  })
  const [moved] = await session.query<{ at: string }>('SELECT clock_timestamp()::text AS at')
  await session.query(`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${login}`)
  await endSessions(session, oid, moved?.at)
}

/** The logins that act as the role enter, also those whose move broke off; resolves to their names. */
async function letIn(session: Session, database: string, role: string): Promise<readonly string[]> {
  const names = (await membersOf(session, role, loginPattern)).map(({ name }) => name)
  for (const name of names) await session.query(`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(name)}`)
  return names
}

/** On every table that the tenant has, in whatever schema. */
function grantRemoval(owner: string, remover: string): string {
  const to = quoted(remover)
  return `DO $grants$
    DECLARE one record;
    BEGIN
      FOR one IN SELECT nspname FROM pg_namespace WHERE pg_get_userbyid(nspowner) = '${owner}' LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${to}', one.nspname);
      END LOOP;
      FOR one IN SELECT format('%I.%I', nspname, relname) AS name, relkind FROM pg_class
        JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE pg_get_userbyid(relowner) = '${owner}' AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relpersistence <> 't'
      LOOP
        EXECUTE format('GRANT %s ON %s %s TO ${to}',
          CASE WHEN one.relkind IN ('r', 'p') THEN 'SELECT, DELETE, TRUNCATE' ELSE 'SELECT' END,
          CASE WHEN one.relkind = 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, one.name);
      END LOOP;
    END
  $grants$`
}
