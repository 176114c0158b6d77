// One look at a whole server: itself, the databases that are asked about with their sizes, and the logins of tenants, by one
// statement. It changes nothing.
import { loginPattern } from './identifiers.ts'
import { type FoundDatabase, foundColumns } from './instances.ts'
import { codeOf, inTransaction, type Server } from './server.ts'
import { openDatabases, type ServerFacts, serverColumns } from './server-check.ts'
import { type Writes, writesColumn } from './writes.ts'

export type LookedDatabase = FoundDatabase & { readonly writes: Writes }
export type Look = {
  readonly server: ServerFacts
  /** Those that are there of those that were asked about. */
  readonly databases: ReadonlyMap<string, LookedDatabase>
  /** All logins of tenants that may log in. */
  readonly logins: ReadonlySet<string>
  /** Bytes of each database; undefined when it was not asked for them, or could not say all of them in time. */
  readonly sizes: ReadonlyMap<string, number> | undefined
}

/** More would be an answer of more than ten megabytes. */
const maxDatabases = 10_000
const maxLogins = 40_000
/** `query_canceled`, by the time limit of a statement: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const canceled = '57014'
/** Errors of the operating system, SQLSTATE class 58. */
const ofFiles = /^58/
const measureMilliseconds = 15_000
const measureOneMilliseconds = 500

type Row = ServerFacts & {
  readonly databases: readonly (LookedDatabase & { readonly name: string; readonly bytes: string | null })[]
  readonly logins: readonly string[]
}

export type LookOptions = {
  /** Of instances. */
  readonly ids: readonly string[]
  /** Whether sizes are asked for together with all else. */
  readonly withSizes: boolean
}

/**
 * Undefined when there is more on the server than one answer may have. Rejects when the server does not answer. What a tenant
 * does to its files can keep sizes from being said, and nothing else.
 */
export async function lookAt(server: Server, { ids, withSizes }: LookOptions): Promise<Look | undefined> {
  if (ids.length > maxDatabases) return undefined
  if (!withSizes) return askWithoutSizes(server, ids)
  try {
    return await ask(server, ids, 'pg_database_size(oid)::text')
  } catch (error) {
    if (!isOfSizes(error)) throw error
    return askWithoutSizes(server, ids)
  }
}

async function askWithoutSizes(server: Server, ids: readonly string[]): Promise<Look | undefined> {
  const found = await ask(server, ids, 'NULL')
  return found && { ...found, sizes: undefined }
}

async function ask(server: Server, ids: readonly string[], size: string): Promise<Look | undefined> {
  const [row] = await server.asLook(session =>
    session.query<Row>(
      `SELECT ${serverColumns}, ARRAY(${openDatabases}) AS open,
         (SELECT coalesce(json_agg(row_to_json(found)), '[]') FROM
           (SELECT datname AS name, ${size} AS bytes, ${foundColumns}, ${writesColumn('$2')} FROM pg_database WHERE datname = ANY ($1)) found) AS databases,
         ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname ~ $2 AND rolcanlogin LIMIT ${maxLogins + 1}) AS logins`,
      [ids, loginPattern.source],
    ),
  )
  if (row === undefined || row.logins.length > maxLogins) return undefined
  const { databases, logins, ...facts } = row
  return {
    server: facts,
    databases: new Map(databases.map(({ name, bytes: _, ...found }) => [name, found])),
    logins: new Set(logins),
    sizes: sizesIn(databases),
  }
}

/**
 * Bytes of each database that is there. One query for all; when that takes too long, one for each: a database with so many files
 * that they cannot be counted is left out, and keeps nobody else from being measured.
 */
export async function measure(server: Server, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const all = await sizesOf(server, ids, measureMilliseconds)
  if (all !== undefined) return all
  const sizes = new Map<string, number>()
  for (const id of ids)
    for (const [name, bytes] of (await sizesOf(server, [id], measureOneMilliseconds)) ?? []) sizes.set(name, bytes)
  return sizes
}

/** Whether counting files took too long, or failed. */
function isOfSizes(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  return code === canceled || ofFiles.test(code)
}

/** Undefined when it takes too long, or fails at a file. */
async function sizesOf(server: Server, ids: readonly string[], milliseconds: number) {
  try {
    return await server.asAdministrator(session =>
      inTransaction(session, async () => {
        await session.query(`SET LOCAL statement_timeout = ${milliseconds}`)
        const rows = await session.query<{ name: string; bytes: string | null }>(
          'SELECT datname AS name, pg_database_size(oid)::text AS bytes FROM pg_database WHERE datname = ANY ($1)',
          [ids],
        )
        return sizesIn(rows)
      }),
    )
  } catch (error) {
    if (!isOfSizes(error)) throw error
    return undefined
  }
}

/** Null: it was dropped a moment ago. */
function sizesIn(rows: readonly { readonly name: string; readonly bytes: string | null }[]): ReadonlyMap<string, number> {
  return new Map(rows.flatMap(({ name, bytes }) => (bytes === null ? [] : [[name, Number(bytes)]])))
}
