// Whether a server can be shared by tenants: its version, the rights of its administrator, and that no database lets
// everybody in.
import { quoted } from './identifiers.ts'
import type { Server, Session } from './server.ts'

export type ServerFacts = {
  /** Such as 15.18. */
  readonly version: string
  readonly versionNumber: number
  readonly isSuperuser: boolean
  readonly acceptsWrites: boolean
  /** The databases, at most ten, that everybody with a login can enter, other than those that are closed here. */
  readonly open: readonly string[]
}

export const serverColumns = `split_part(current_setting('server_version'), ' ', 1) AS version,
  current_setting('server_version_num')::int AS "versionNumber",
  (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS "isSuperuser",
  NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off' AS "acceptsWrites"`
/** The names of the databases, at most ten, that everybody with a login can enter. */
export const openDatabases = `SELECT datname::text AS name FROM pg_database
  WHERE datallowconn AND has_database_privilege('public', oid, 'CONNECT') ORDER BY 1 LIMIT 10`

const ownDatabases = ['postgres', 'template1']

/** Closes the server's own two databases to everybody, which PostgreSQL does not do by itself, and says what the server is. */
export function checkServer(server: Server): Promise<ServerFacts> {
  return server.asAdministrator(async session => {
    const [facts] = await session.query<Omit<ServerFacts, 'open'>>(`SELECT ${serverColumns}`)
    if (facts === undefined) throw new Error('the server did not describe itself')
    if (facts.isSuperuser && facts.acceptsWrites) await closeOwnDatabases(session)
    return { ...facts, open: await namesOfOpen(session) }
  })
}

async function namesOfOpen(session: Session): Promise<readonly string[]> {
  return (await session.query<{ name: string }>(openDatabases)).map(row => row.name)
}

async function closeOwnDatabases(session: Session): Promise<void> {
  const open = new Set(await namesOfOpen(session))
  for (const database of ownDatabases)
    if (open.has(database)) await session.query(`REVOKE ALL ON DATABASE ${quoted(database)} FROM PUBLIC`)
}
