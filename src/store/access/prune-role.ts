// The role of the program that cuts the audit log, checked as the processes check theirs: it may read the log and call one
// function, and a connection that may do more is refused.
import type pg from 'pg'
import { AppError } from '../../lib/errors.ts'
import { readRole } from './check-role.ts'
import { pruneFunction, pruneReads, pruneRole } from './rights.ts'

const variable = 'SEKISHO_PRUNE_DATABASE_URL'

/** Rejects with `invalid_configuration` that names what the role lacks or could do. */
export async function requirePruneRole(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    const { role, powers, tables } = await readRole(client)
    const own: readonly string[] = pruneReads
    const excess = tables.filter(
      fact => fact.attainable && !(fact.verb === 'SELECT' && own.includes(`${fact.schema}.${fact.table}`)),
    )
    const may = [...powers, ...excess.map(({ verb, schema, table }) => `may ${verb} ${schema}.${table}`)]
    if (may.length > 0)
      throw new AppError(
        'invalid_configuration',
        `${variable} connects as the role ${role}, which ${may.slice(0, 5).join('; ')}: use ${pruneRole}`,
      )
    const { rows } = await client.query<{ may: boolean }>(`SELECT has_function_privilege('${pruneFunction}', 'EXECUTE') AS may`)
    const reads = tables.some(fact => fact.usable && own.includes(`${fact.schema}.${fact.table}`))
    if (rows[0]?.may === true && reads) return
    throw new AppError(
      'invalid_configuration',
      `${variable} connects as the role ${role}, which may not cut the audit log: as the owner of the database run node src/store/migrate-main.ts with SEKISHO_PRUNE_DATABASE_PASSWORD`,
    )
  } finally {
    client.release()
  }
}
