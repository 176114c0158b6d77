// PostgreSQL servers for tenants, each of one environment at a time. What an environment made is removed at its end; a server
// that is not as it was when it started is not used again.
import { startPostgres, type TestPostgres } from '../../../dev/postgres/start-postgres.ts'
import { query } from '../../fixtures/database-services.ts'
import { inDatabase, onServer } from './server-contents.ts'

export type TenantsPool = {
  /** As new. */
  readonly take: () => Promise<TestPostgres>
  /** Never rejects: a server that cannot be emptied is stopped. Nothing of the environment may use it any more. */
  readonly giveBack: (server: TestPostgres) => Promise<void>
  /** Of the servers that were given back. */
  readonly stop: () => Promise<void>
}

const own = ['postgres', 'template1'] as const
const endSessions = `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
/** Statements, those about databases before those about roles, which own them. */
const removals = `
  SELECT format('DROP DATABASE %I WITH (FORCE)', datname) AS sql FROM pg_database
    WHERE datname NOT IN ('postgres', 'template0', 'template1')
  UNION ALL SELECT format('DROP OWNED BY %I CASCADE', rolname) FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> current_user
  UNION ALL SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> current_user`
/** Statements that give the server's own databases the rights that they have. */
const rights = `SELECT format('UPDATE pg_database SET datacl = %L WHERE datname = %L', datacl, datname) AS sql FROM pg_database`

/** All that the server has; what belongs to nobody but the server is the same on each. */
async function everythingOn(server: TestPostgres): Promise<string> {
  const asked = [
    query(server.url('postgres').reveal(), onServer),
    ...own.map(database => query(server.url(database).reveal(), inDatabase)),
  ]
  return JSON.stringify((await Promise.all(asked)).map(rows => rows.map(({ line }) => line).sort()))
}

type AsNew = { readonly everything: string; readonly rights: readonly string[] }

async function statements(server: TestPostgres, sql: string): Promise<readonly string[]> {
  return (await query(server.url('postgres').reveal(), sql)).map(row => String(row['sql']))
}

/** Resolves to whether it is as new. */
async function empty(server: TestPostgres, asNew: AsNew): Promise<boolean> {
  const run = (sql: string) => query(server.url('postgres').reveal(), sql)
  await run(endSessions)
  for (const sql of [...(await statements(server, removals)), ...asNew.rights]) await run(sql)
  return (await everythingOn(server)) === asNew.everything
}

/** No server is started before the first is taken. */
export function createTenantsPool(): TenantsPool {
  const free: TestPostgres[] = []
  const known = new Map<TestPostgres, AsNew>()
  return {
    async take() {
      const one = free.pop()
      if (one !== undefined) return one
      const server = await startPostgres()
      known.set(server, { everything: await everythingOn(server), rights: await statements(server, rights) })
      return server
    },
    async giveBack(server) {
      const asNew = known.get(server)
      if (asNew !== undefined && (await empty(server, asNew).catch(() => false))) return void free.push(server)
      known.delete(server)
      await server.stop()
    },
    async stop() {
      await Promise.all(free.splice(0).map(server => server.stop()))
    },
  }
}
