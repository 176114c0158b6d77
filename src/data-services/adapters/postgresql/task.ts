// Work inside of a tenant's database, by a login that exists for this one task and has the rights of the tenant's roles and no
// others: what a tenant left there could run with whatever rights a session has, so it is never the administrator's.
import { randomBytes } from 'node:crypto'
import { SecretString } from '../../../lib/secret-string.ts'
import { scramVerifier } from '../../../lib/text/scram-verifier.ts'
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import { namesOf, quoted, taskLoginName } from './identifiers.ts'
import { codeOf, type Server, type Session } from './server.ts'

/** A tenant granted something to a role, or owns something by it; or it does so in a transaction that is open. */
const keepsRole = new Set(['2BP01', '55P03'])
const endMilliseconds = 5_000

/**
 * The login is a member of the tenant's role and of `roles`. Rejects with what `work` rejects with. After a crash the login is
 * left behind; nobody knows its password, and it goes with the database.
 */
export async function asTask<T>(
  server: Server,
  id: string,
  roles: readonly string[],
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { database, owner } = namesOf(id)
  const username = taskLoginName(id, randomBytes(6).toString('hex'))
  const password = new SecretString(randomBytes(32).toString('base64url'))
  await server.asAdministrator(async session => {
    const groups = [owner, ...roles].map(quoted).join(', ')
    const verifier = scramVerifier(password, 'the password')
    await session.query(`CREATE ROLE ${quoted(username)} LOGIN CONNECTION LIMIT 1 PASSWORD '${verifier}' IN ROLE ${groups}`)
    await session.query(`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(username)}`)
  })
  try {
    return await server.asLogin({ username, password }, database, async session => {
      await session.query('SET search_path = pg_catalog')
      return await work(session)
    })
  } finally {
    await server.asAdministrator(session => dropRole(session, database, username))
  }
}

/**
 * Ends the role: nobody can log in by it, and its sessions are over, when this resolves. Resolves to whether it is gone: it
 * stays, without a login, when some tenant granted something to it, or does so in a transaction that is open.
 */
export async function dropRole(session: Session, database: string, role: string): Promise<boolean> {
  const [found] = await session.query<{ oid: number }>('SELECT oid FROM pg_roles WHERE rolname = $1', [role])
  if (found === undefined) return true
  // A login can lock its own role, but not its right to enter: without that, and its sessions, nobody holds the role.
  if ((await session.query('SELECT FROM pg_database WHERE datname = $1', [database])).length > 0)
    await session.query(`REVOKE ALL ON DATABASE ${quoted(database)} FROM ${quoted(role)}`)
  await endSessions(session, found.oid)
  await session.query(`ALTER ROLE ${quoted(role)} NOLOGIN PASSWORD NULL`)
  await endSessions(session, found.oid)
  try {
    await session.query(`DROP ROLE ${quoted(role)}`)
  } catch (error) {
    if (keepsRole.has(codeOf(error) ?? '')) return false
    throw error
  }
  // One that began before the role could not log in any more, and was not listed yet.
  await endSessions(session, found.oid)
  return true
}

/**
 * Those of the role, or of them those that began before this time of the server. Rejects with `unavailable` when one of them does
 * not end in time.
 */
export async function endSessions(session: Session, role: number, begunBefore = 'infinity'): Promise<void> {
  const signal = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usesysid = $1 AND backend_start < $2'
  await waitUntil('the sessions of a role to end', async () => (await session.query(signal, [role, begunBefore])).length === 0, {
    timeoutMilliseconds: endMilliseconds,
  })
}
