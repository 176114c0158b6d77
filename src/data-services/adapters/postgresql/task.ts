// Work inside of a tenant's database, by a login that exists for this one task and has the rights of the tenant's roles and no
// others: what a tenant left there could run with whatever rights a session has, so it is never the administrator's.
import { randomBytes } from 'node:crypto'
import { SecretString } from '../../../lib/secret-string.ts'
import { scramVerifier } from '../../../lib/text/scram-verifier.ts'
import { namesOf, quoted, taskLoginName } from './identifiers.ts'
import { codeOf, type Server, type Session } from './server.ts'

/** A tenant granted something to a role, or owns something by it. */
export const dependentObjects = '2BP01'

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
 * Resolves to whether the role is gone. It is not when a tenant granted something to it or owns something by it: then it is left
 * without a login.
 */
export async function dropRole(session: Session, database: string, role: string): Promise<boolean> {
  if ((await session.query('SELECT FROM pg_roles WHERE rolname = $1', [role])).length === 0) return true
  await session.query(`ALTER ROLE ${quoted(role)} NOLOGIN PASSWORD NULL`)
  await session.query('SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE usename = $1', [role])
  if ((await session.query('SELECT FROM pg_database WHERE datname = $1', [database])).length > 0)
    await session.query(`REVOKE ALL ON DATABASE ${quoted(database)} FROM ${quoted(role)}`)
  try {
    await session.query(`DROP ROLE ${quoted(role)}`)
    return true
  } catch (error) {
    if (codeOf(error) === dependentObjects) return false
    throw error
  }
}
