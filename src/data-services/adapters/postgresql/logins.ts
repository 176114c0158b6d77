// Logins: one for each slot of a ServiceBinding. What a login makes belongs to the tenant's role, because every session begins as
// that role, so a login can be dropped while its tables stay.
import type { SecretString } from '../../../lib/secret-string.ts'
import { scramVerifier } from '../../../lib/text/scram-verifier.ts'
import { namesOf, quoted } from './identifiers.ts'
import { rolesOf } from './memberships.ts'
import { inTransaction, type Server, type Session } from './server.ts'
import { asTask, dropRole } from './task.ts'
import { markOf } from './writes.ts'

export type Access = 'ReadWrite' | 'ReadOnly'
export type WantedLogin = {
  /** Of the instance. */
  readonly id: string
  readonly name: string
  readonly access: Access
  readonly connections: number
}

/** What tells a login that the guard of locks closed from one whose end broke off. Each that is made has a limit above it. */
export const closedMark = 'CONNECTION LIMIT 0'

const temporaryFiles = '1GB'
/** A session that holds its locks and does nothing keeps others from working. */
const idleInTransaction = '10min'

/** The role that a login with this access acts as, unless writes ended. */
export function actsAs({ id, access }: Pick<WantedLogin, 'id' | 'access'>): string {
  const { owner, reader } = namesOf(id)
  return access === 'ReadWrite' ? owner : reader
}

/**
 * Makes the login, or gives one that is there this password and no other right. In one transaction. Resolves to the role that its
 * sessions begin as.
 */
export async function ensureLogin(server: Server, wanted: WantedLogin, password: SecretString): Promise<string> {
  const { name, id, connections } = wanted
  const login = quoted(name)
  return server.asAdministrator(session =>
    inTransaction(session, async () => {
      const role = await presentRole(session, wanted)
      const exists = (await session.query('SELECT FROM pg_roles WHERE rolname = $1', [name])).length > 0
      if (!exists) await session.query(`CREATE ROLE ${login}`)
      for (const former of exists ? await rolesOf(session, name) : [])
        if (former !== role) await session.query(`REVOKE ${quoted(former)} FROM ${login}`)
      await session.query(
        `ALTER ROLE ${login} LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
         CONNECTION LIMIT ${Number(connections)} PASSWORD '${scramVerifier(password, 'the password')}'`,
      )
      await session.query(`ALTER ROLE ${login} RESET ALL`)
      await session.query(`ALTER ROLE ${login} IN DATABASE ${quoted(namesOf(id).database)} RESET ALL`)
      await session.query(`ALTER ROLE ${login} SET role = '${role}'`)
      await session.query(`ALTER ROLE ${login} SET temp_file_limit = '${temporaryFiles}'`)
      await session.query(`ALTER ROLE ${login} SET idle_in_transaction_session_timeout = '${idleInTransaction}'`)
      await session.query(`GRANT ${quoted(role)} TO ${login}`)
      await session.query(`GRANT CONNECT ON DATABASE ${quoted(namesOf(id).database)} TO ${login}`)
      return role
    }),
  )
}

async function presentRole(session: Session, wanted: Pick<WantedLogin, 'id' | 'access'>): Promise<string> {
  const haveWritesEnded = wanted.access === 'ReadWrite' && (await markOf(session, wanted.id)) !== undefined
  return haveWritesEnded ? namesOf(wanted.id).remover : actsAs(wanted)
}

/** Those of the logins that exist and may log in: how many sessions each has. */
export function liveLogins(server: Server, logins: readonly string[]): Promise<ReadonlyMap<string, number>> {
  return server.asAdministrator(async session => {
    const rows = await session.query<{ name: string; sessions: number }>(
      `SELECT rolname AS name, (SELECT count(*)::int FROM pg_stat_activity WHERE usesysid = pg_roles.oid) AS sessions
       FROM pg_roles WHERE rolname = ANY ($1) AND rolcanlogin`,
      [logins],
    )
    return new Map(rows.map(row => [row.name, row.sessions]))
  })
}

/** Whether the guard of locks closed the login. */
export function isClosedLogin(server: Server, login: string): Promise<boolean> {
  return server.asAdministrator(async session => {
    const sql = 'SELECT FROM pg_roles WHERE rolname = $1 AND NOT rolcanlogin AND rolconnlimit = 0'
    return (await session.query(sql, [login])).length > 0
  })
}

/**
 * Ends the login: nobody can log in by it, and its sessions are over, when this resolves. What it owned goes to the tenant's
 * role, and the login away; where something in the database keeps that from being done, it goes with the database.
 */
export async function dropLogin(server: Server, id: string, login: string): Promise<void> {
  const { database, owner } = namesOf(id)
  const drop = (): Promise<boolean> => server.asAdministrator(session => dropRole(session, database, login))
  if (await drop()) return
  const clean = async (session: Session): Promise<void> => {
    await session.query(`REASSIGN OWNED BY ${quoted(login)} TO ${quoted(owner)}`)
    await session.query(`DROP OWNED BY ${quoted(login)}`)
  }
  // The login has ended: what a tenant did to its own database, which can stop this, must not stop more. A server that is away
  // is said by the drop that follows.
  await asTask(server, id, [login], clean).catch(() => undefined)
  await drop()
}
