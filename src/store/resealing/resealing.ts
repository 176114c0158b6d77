// Seals values again under the first key of the keyring, and counts the rows of each key, so that a former key can be removed.
// Any number of processes may do it at once, and end anywhere: a row is replaced only while it still has the value that was
// opened, and what is left is found by its key's id. It passes no secret to a caller.
import { isAppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { PrismaClient } from '../generated/client.ts'
import { createSealer, keyFingerprint, type Sealer } from '../seal.ts'
import type { SealedColumn } from './sealed-columns.ts'

/** How many values of a column each key of the keyring sealed, in its order. */
export type SealedCount = { readonly name: string; readonly rows: readonly number[]; readonly unknownKey: number }

/** The keyring of a process by fingerprints, the key that seals first, and what each key sealed. */
export type SealedCounts = { readonly keys: readonly string[]; readonly columns: readonly SealedCount[] }

/** What a run did. Unreadable: sealed by a key that is not in the keyring, moved or altered; such a row stays as it is. */
export type ResealResult = { readonly resealed: number; readonly unreadable: number }

/** The port for sealing again. */
export type Resealing = {
  /** Fingerprints of the keyring; the first seals. */
  readonly keys: readonly string[]
  readonly count: () => Promise<SealedCounts>
  /**
   * Looks at every value that the first key did not seal, and seals those again that can be opened. Ends early when `signal` is
   * aborted: a later run goes on. A value that others replaced meanwhile is left to them.
   */
  readonly run: (signal: AbortSignal) => Promise<ResealResult>
}

type ResealingDeps = {
  readonly prisma: PrismaClient
  readonly sealingKeys: readonly SecretString[]
  readonly columns: readonly SealedColumn[]
  /** Rows that are read and replaced by one statement each. */
  readonly batchRows?: number
}

type Part = { readonly column: SealedColumn; readonly sealer: Sealer; readonly sql: Statements }

/** Over Prisma, with the rights on the tables of `columns` that their repositories have. */
export function createResealing(deps: ResealingDeps): Resealing {
  const { prisma, sealingKeys, columns, batchRows = 200 } = deps
  const keys = sealingKeys.map(keyFingerprint)
  const parts = columns.map((column): Part => {
    return { column, sealer: createSealer(sealingKeys, column.purpose), sql: statementsFor(column) }
  })
  const runPart = async (part: Part, signal: AbortSignal): Promise<ResealResult> => {
    let [resealed, unreadable] = [0, 0]
    let after: readonly string[] | undefined
    while (!signal.aborted) {
      const rows = await notSealedByFirst(prisma, part, after, batchRows)
      const last = rows.at(-1)
      if (last === undefined) break
      const replaced = rows.map(row => sealedAgain(part, row)).filter(row => row !== undefined)
      unreadable += rows.length - replaced.length
      if (replaced.length > 0) resealed += await prisma.$executeRawUnsafe(part.sql.replace, JSON.stringify(replaced))
      after = last.key
    }
    return { resealed, unreadable }
  }
  return {
    keys,
    async count() {
      const counts: SealedCount[] = []
      for (const part of parts) counts.push(await countOf(prisma, part))
      return { keys, columns: counts }
    },
    async run(signal) {
      let [resealed, unreadable] = [0, 0]
      for (const part of parts) {
        const result = await runPart(part, signal)
        resealed += result.resealed
        unreadable += result.unreadable
      }
      return { resealed, unreadable }
    },
  }
}

type FoundRow = { readonly key: readonly string[]; readonly sealed: string }
type ReplacedRow = { readonly [column: string]: string }

async function notSealedByFirst(
  prisma: PrismaClient,
  { sealer, sql }: Part,
  after: readonly string[] | undefined,
  limit: number,
): Promise<readonly FoundRow[]> {
  const current = `v1.${sealer.keyIds[0]}.%`
  return after === undefined
    ? prisma.$queryRawUnsafe<FoundRow[]>(sql.first, current, limit)
    : prisma.$queryRawUnsafe<FoundRow[]>(sql.next, current, limit, ...after)
}

/** Undefined when the value does not open. */
function sealedAgain({ column, sealer }: Part, { key, sealed }: FoundRow): ReplacedRow | undefined {
  const context = column.context(...key)
  try {
    const keyFields = Object.fromEntries(key.map((value, index) => [`key${index}`, value]))
    return { ...keyFields, former: sealed, sealed: sealer.seal(sealer.open(sealed, context), context) }
  } catch (error) {
    if (isAppError(error, 'integrity_violation')) return undefined
    throw error
  }
}

async function countOf(prisma: PrismaClient, { column, sealer, sql }: Part): Promise<SealedCount> {
  const found = await prisma.$queryRawUnsafe<{ readonly id: string; readonly rows: number }[]>(sql.count)
  const byId = new Map(found.map(({ id, rows }) => [id, rows]))
  const rows = sealer.keyIds.map(id => byId.get(id) ?? 0)
  const all = found.reduce((sum, each) => sum + each.rows, 0)
  return { name: column.name, rows, unknownKey: all - rows.reduce((sum, each) => sum + each, 0) }
}

type Statements = { readonly first: string; readonly next: string; readonly replace: string; readonly count: string }

/** Built from the constants of sealed-columns.ts only; every value is a parameter. */
function statementsFor({ table, column, key }: SealedColumn): Statements {
  const names = key.map(part => part.column)
  const keys = `ARRAY[${names.map(name => `${name}::text`).join(', ')}] AS key`
  const select = (condition: string): string =>
    `SELECT ${keys}, ${column} AS sealed FROM ${table} WHERE ${column} <> '' AND ${column} NOT LIKE $1${condition} ORDER BY ${names.join(', ')} LIMIT $2`
  const after = key.map(({ type }, index) => `$${index + 3}::text::${type}`).join(', ')
  const fields = [...key.map(({ type }, index) => `key${index} ${type}`), 'former text', 'sealed text'].join(', ')
  const sameRow = names.map((name, index) => `present.${name} = row.key${index}`).join(' AND ')
  return {
    first: select(''),
    next: select(` AND (${names.join(', ')}) > (${after})`),
    replace: `UPDATE ${table} AS present SET ${column} = row.sealed FROM json_to_recordset($1::text::json) AS row(${fields})
      WHERE ${sameRow} AND present.${column} = row.former`,
    count: `SELECT split_part(${column}, '.', 2) AS id, count(*)::int AS rows FROM ${table} WHERE ${column} <> '' GROUP BY 1`,
  }
}
