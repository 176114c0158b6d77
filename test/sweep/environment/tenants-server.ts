// A PostgreSQL server that tenants share, of one environment alone, so that everything on it is what the process under test
// made. Each statement by which that changes the server is a write; what a test asks passes no proxy.
import { query } from '../../fixtures/database-services.ts'
import type { CrashSwitch } from '../../proxies/crash-switch.ts'
import { startDatabaseProxy } from '../../proxies/database-proxy.ts'
import { plainServerNames, serverStatement } from '../../proxies/named-writes.ts'
import { inDatabase, onServer } from './server-contents.ts'
import type { TenantsPool } from './tenants-pool.ts'

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

/** One of `pool`. `crash` judges what passes from the process under test. */
export async function startTenantsServer(crash: CrashSwitch, pool: TenantsPool): Promise<TenantsServer> {
  const server = await pool.take()
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
      await pool.giveBack(server)
    },
  }
}
