// A PostgreSQL server that tenants share, of one environment alone, so that everything on it is what the process under test
// made. Each statement by which that changes the server is a write; what a test asks passes no proxy.
import { startPostgres } from '../../../dev/postgres/start-postgres.ts'
import { query } from '../../fixtures/database-services.ts'
import type { CrashSwitch } from '../../proxies/crash-switch.ts'
import { startDatabaseProxy } from '../../proxies/database-proxy.ts'
import { plainServerNames, serverStatement } from '../../proxies/named-writes.ts'

export type Login = { readonly name: string; readonly password: string }

export type TenantsServer = {
  /** By which the process under test reaches it, as its administrator. */
  readonly address: { readonly host: string; readonly port: number }
  readonly account: { readonly username: string; readonly password: string }
  /** The rows of a statement in a session of this login. */
  readonly as: (login: Login, database: string, sql: string) => Promise<readonly Record<string, unknown>[]>
  /** All that the server has beside its own, with what makes one tenant's thing another's; sorted, without hashes. */
  readonly contents: () => Promise<readonly string[]>
  readonly cut: () => void
  readonly close: () => Promise<void>
}

const brokenTask = /^role t_s#: /
const entryOfTask = / t_s#=c\/owner/g
const own = "'postgres', 'template0', 'template1'"
const onServer = `
  SELECT format('database %s: %s, limit %s, open %s, %s', datname, shobj_description(oid, 'pg_database'), datconnlimit,
    datallowconn, (SELECT string_agg(item::text, ' ' ORDER BY item::text) FROM unnest(datacl) item)) AS line
    FROM pg_database WHERE datname <> 'template0'
  UNION ALL SELECT format('role %s: login %s, password %s, limit %s, %s, %s, of %s, %s', rolname, rolcanlogin,
    rolpassword IS NOT NULL, rolconnlimit,
    ARRAY(SELECT setconfig::text FROM pg_db_role_setting WHERE setrole = pg_authid.oid ORDER BY 1),
    ARRAY[rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolinherit],
    ARRAY(SELECT roleid::regrole::text FROM pg_auth_members WHERE member = pg_authid.oid ORDER BY 1),
    shobj_description(oid, 'pg_authid'))
    FROM pg_authid WHERE rolname !~ '^pg_' AND NOT (rolname = current_user)
  UNION ALL SELECT format('%s sessions of %s', count(*), usename) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND usename <> current_user GROUP BY usename`
const inDatabase = `
  SELECT format('schema %s of %s, %s', nspname, nspowner::regrole, nspacl) AS line FROM pg_namespace WHERE nspname !~ '^pg_'
  UNION ALL SELECT format('defaults for %s: %s %s', defaclrole::regrole, defaclobjtype, defaclacl) FROM pg_default_acl
  UNION ALL SELECT format('table %s of %s, %s', relname, relowner::regrole, relacl) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
  UNION ALL SELECT format('function %s: %s', proname, proacl) FROM pg_proc WHERE proname ~ '^lo' AND proacl IS NOT NULL
  UNION ALL SELECT format('extension %s', extname) FROM pg_extension`

/** `crash` judges what passes from the process under test. */
export async function startTenantsServer(crash: CrashSwitch): Promise<TenantsServer> {
  const server = await startPostgres()
  const proxy = await startDatabaseProxy(server.url('postgres'), crash, serverStatement)
  const { hostname: host, port } = new URL(proxy.url.reveal())
  const { username, password } = new URL(server.url('postgres').reveal())
  const linesOf = async (database: string, sql: string): Promise<readonly string[]> => {
    const rows = await query(server.url(database).reveal(), sql)
    return rows.map(({ line }) => plainServerNames(String(line)).replace(/\d{4}-\d\d-\d\d/, '<day>'))
  }
  return {
    address: { host, port: Number(port) },
    account: { username, password },
    as: (login, database, sql) => query(server.url(database, login).reveal(), sql),
    async contents() {
      const databases = await query(
        server.url('postgres').reveal(),
        `SELECT datname AS name FROM pg_database WHERE datname NOT IN (${own}) AND datallowconn`,
      )
      const inside = await Promise.all(databases.map(({ name }) => linesOf(String(name), inDatabase)))
      const lines = [...(await linesOf('postgres', onServer)), ...inside.flat()].sort()
      // A task that broke off leaves its login behind. Nobody knows its password, and it goes with the database.
      return databases.length === 0
        ? lines
        : lines.filter(line => !brokenTask.test(line)).map(line => line.replaceAll(entryOfTask, ''))
    },
    cut: proxy.cut,
    async close() {
      await proxy.close()
      await server.stop()
    },
  }
}
