// Waits until the database of a process is as the process needs it: reachable, migrated by its owner, and with exactly the
// rights of its role. What somebody may be about to cure is logged and waited for; what must never be is refused, with the
// variable and the cure. It writes nothing.
import pg from 'pg'
import type { Clock } from '../../lib/clock.ts'
import { AppError, isAppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Migration, migrationsToApply, readMigrations } from '../database/migrate.ts'
import { missingRights, readRole, refuseExcess } from './check-role.ts'
import { roleNames, type Schema } from './rights.ts'

/** A connection of a process, the schema whose rights it must have, and where its URL comes from. */
export type Access = { readonly pool: pg.Pool; readonly schema: Schema; readonly variable: string }

type Deps = { readonly clock: Clock; readonly log: Log; readonly migrations?: readonly Migration[] }

const retryMilliseconds = 3000
/** Invalid password or no such role; no such database. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const hopeless: Readonly<Record<string, string>> = {
  '28P01': 'PostgreSQL does not accept its role or password',
  '28000': 'PostgreSQL does not accept its role from this address',
  '3D000': 'there is no such database',
}
const permissionDenied = '42501'

/** The program of the owner, for messages. */
const ownersProgram = 'as the owner of the database run: node src/store/migrate-main.ts'

/**
 * Resolves when nothing stands in the way. Rejects with `invalid_configuration` for a role that may do too much, a schema of a
 * newer version, and a role, password or database that does not exist.
 */
export async function awaitDatabase(
  accesses: readonly Access[],
  { clock, log, migrations = readMigrations() }: Deps,
): Promise<void> {
  let reported: string | undefined
  for (;;) {
    const obstacle = await firstObstacle(accesses, migrations)
    if (obstacle === undefined) return
    if (obstacle !== reported) log.error({ obstacle, retrySeconds: retryMilliseconds / 1000 }, 'waiting for the database')
    reported = obstacle
    await clock.sleep(retryMilliseconds)
  }
}

async function firstObstacle(accesses: readonly Access[], migrations: readonly Migration[]): Promise<string | undefined> {
  for (const access of accesses) {
    const found = await obstacle(access, migrations)
    if (found !== undefined) return found
  }
  return undefined
}

/** True while nothing stands in the way of a process that runs; logs what does, once each time that it changes. Never rejects. */
export function createAccessCheck(accesses: readonly Access[], log: Log): () => Promise<boolean> {
  let reported: string | undefined
  return async () => {
    const found = await firstObstacle(accesses, []).catch(messageOf)
    if (found !== undefined && found !== reported) log.error({ obstacle: found }, 'the database cannot be used')
    if (found === undefined && reported !== undefined) log.info({}, 'the database can be used again')
    reported = found
    return found === undefined
  }
}

/**
 * What keeps the process from using the database now, for people; undefined when nothing does. Rejects for what waiting cannot
 * cure.
 */
async function obstacle(access: Access, migrations: readonly Migration[]): Promise<string | undefined> {
  try {
    return await withConnection(access.pool, client => examine(client, access, migrations))
  } catch (cause) {
    if (isAppError(cause)) throw cause
    const code = cause instanceof pg.DatabaseError ? (cause.code ?? '') : ''
    const why = hopeless[code]
    if (why !== undefined) throw new AppError('invalid_configuration', `${access.variable} cannot be used: ${why} (${code})`)
    if (code === permissionDenied) return `${access.variable}: ${messageOf(cause)}; ${ownersProgram}`
    return `${access.variable}: ${messageOf(cause)}`
  }
}

/** A connection to a server that accepts no writes is closed: after a failover another one leads to the new primary. */
async function withConnection(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<{ readonly obstacle: string | undefined; readonly usable: boolean }>,
): Promise<string | undefined> {
  const client = await pool.connect()
  let usable = false
  try {
    const result = await work(client)
    usable = result.usable
    return result.obstacle
  } finally {
    client.release(!usable)
  }
}

async function examine(client: pg.PoolClient, { schema, variable }: Access, migrations: readonly Migration[]) {
  const missing = await migrationsToApply(client, migrations)
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ')
    return { obstacle: `the database has not been migrated to this version (${names}); ${ownersProgram}`, usable: true }
  }
  const facts = await readRole(client)
  refuseExcess(facts, schema, variable)
  const rights = missingRights(facts, schema)
  if (rights.length > 0) {
    const lacks = `${variable} connects as the role ${facts.role}, which lacks ${rights.join(', ')}`
    return { obstacle: `${lacks} (${roleNames[schema]} has them); ${ownersProgram}`, usable: true }
  }
  if (facts.readOnly)
    return { obstacle: `${variable}: the database accepts no writes (a standby, or set to read only)`, usable: false }
  return { obstacle: undefined, usable: true }
}
