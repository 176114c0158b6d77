// One look at a whole server: itself, the databases that are asked about with their sizes, and the logins of tenants, by one
// statement. It changes nothing.
import { loginPattern } from './identifiers.ts'
import { type FoundDatabase, foundColumns } from './instances.ts'
import { codeOf, inTransaction, type Server } from './server.ts'
import { openDatabases, type ServerFacts, serverColumns } from './server-check.ts'

export type Look = {
  readonly server: ServerFacts
  /** Those that are there of those that were asked about. */
  readonly databases: ReadonlyMap<string, FoundDatabase>
  /** All logins of tenants that may log in. */
  readonly logins: ReadonlySet<string>
  /** Bytes of each database; undefined when the server could not say it in time for all of them. */
  readonly sizes: ReadonlyMap<string, number> | undefined
}

/** More would be an answer of more than ten megabytes. */
const maxDatabases = 10_000
const maxLogins = 40_000
/** `query_canceled`, by the time limit of a statement: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const canceled = '57014'
/** Errors of the operating system, SQLSTATE class 58. */
const ofFiles = /^58/
const measureMilliseconds = 500

type Row = ServerFacts & {
  readonly databases: readonly (FoundDatabase & { readonly id: string; readonly bytes: string | null })[]
  readonly logins: readonly string[]
}

/**
 * `ids`: of instances. Undefined when there is more on the server than one answer may have. Rejects when the server does not
 * answer. What a tenant does to its files can keep sizes from being said, and nothing else.
 */
export async function lookAt(server: Server, ids: readonly string[]): Promise<Look | undefined> {
  if (ids.length > maxDatabases) return undefined
  try {
    return await ask(server, ids, 'pg_database_size(oid)::text')
  } catch (error) {
    if (!isOfSizes(error)) throw error
    const found = await ask(server, ids, 'NULL')
    return found && { ...found, sizes: undefined }
  }
}

async function ask(server: Server, ids: readonly string[], size: string): Promise<Look | undefined> {
  const [row] = await server.asLook(session =>
    session.query<Row>(
      `SELECT ${serverColumns}, ARRAY(${openDatabases}) AS open,
         (SELECT coalesce(json_agg(row_to_json(found)), '[]') FROM
           (SELECT datname AS id, ${size} AS bytes, ${foundColumns} FROM pg_database WHERE datname = ANY ($1)) found) AS databases,
         ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname ~ $2 AND rolcanlogin LIMIT ${maxLogins + 1}) AS logins`,
      [ids, loginPattern.source],
    ),
  )
  if (row === undefined || row.logins.length > maxLogins) return undefined
  const { databases, logins, ...facts } = row
  return {
    server: facts,
    databases: new Map(databases.map(({ id, bytes: _, ...found }) => [id, found])),
    logins: new Set(logins),
    // Null: it was dropped a moment ago.
    sizes: new Map(databases.flatMap(({ id, bytes }) => (bytes === null ? [] : [[id, Number(bytes)]]))),
  }
}

/**
 * Bytes of each database that is there, one after the other: one with so many files that they cannot be counted is left out, and
 * keeps nobody else from being measured.
 */
export async function measureEach(server: Server, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>()
  for (const id of ids) {
    const bytes = await measure(server, id)
    if (bytes !== undefined) sizes.set(id, bytes)
  }
  return sizes
}

/** Whether counting files took too long, or failed. */
function isOfSizes(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  return code === canceled || ofFiles.test(code)
}

/** Undefined when it is not there, or takes too long. */
async function measure(server: Server, id: string): Promise<number | undefined> {
  try {
    return await server.asAdministrator(session =>
      inTransaction(session, async () => {
        await session.query(`SET LOCAL statement_timeout = ${measureMilliseconds}`)
        const sql = 'SELECT pg_database_size(oid)::text AS bytes FROM pg_database WHERE datname = $1'
        const [found] = await session.query<{ bytes: string }>(sql, [id])
        return found && Number(found.bytes)
      }),
    )
  } catch (error) {
    if (!isOfSizes(error)) throw error
    return undefined
  }
}
