// The audit log's table as SQL over the driver: Prisma's ordinary client costs more than hashing and the database together when hundreds
// of entries go at once (docs/adr/0013). It inserts and reads whole batches; what an entry means is decided elsewhere.
// Several processes on one PostgreSQL take turns by a transaction-level advisory lock; the primary key on the sequence stands behind it.
// Source: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
import pg from 'pg'
import type { AuditAction } from '../../api/audit-event.ts'
import { type ChainHead, emptyHead } from '../../lib/hash-chain.ts'
import { type AuditEntry, type AuditTexts, entryOfTexts } from './audit-chain.ts'

/** Any number that no other lock of this database uses. */
const appendLock = 7_312_001
const uniqueViolation = '23505'

const columns = 'sequence, at, action, actor, namespace, object, outcome, reason, details, previous_hash, hash'
/** One parameter for the whole batch, read by the server itself: neither the statement nor its plan depends on how many entries come. */
const batch = `json_to_recordset($1::json) AS entry(sequence bigint, at timestamptz, action text, actor text, namespace text,
  object text, outcome text, reason text, details jsonb, "previousHash" text, hash text)`
const newest = 'SELECT sequence, hash FROM audit.entries ORDER BY sequence DESC LIMIT 1'

const newestOfNamespace = `SELECT ${columns} FROM (
    SELECT * FROM audit.entries WHERE namespace = $1 ORDER BY sequence DESC LIMIT $2
  ) AS newest WHERE action = $3 ORDER BY sequence DESC`

const insert = `INSERT INTO audit.entries (${columns}) SELECT entry.* FROM ${batch}`
const takeTurn = `SELECT pg_advisory_xact_lock(${appendLock})`
const insertAfterNewest = `WITH turn AS MATERIALIZED (${takeTurn})
  INSERT INTO audit.entries (${columns}) SELECT entry.* FROM turn CROSS JOIN ${batch}
  WHERE (SELECT hash FROM audit.entries ORDER BY sequence DESC LIMIT 1) = $2`

/**
 * Appends in one round trip, if `head` is still the newest entry. False when it is not: then nothing was written. The look at the newest
 * entry may be older than our turn; where another process was faster in between, the primary key refuses the whole batch.
 */
export async function insertAfter(pool: pg.Pool, head: ChainHead, entries: readonly AuditEntry[]): Promise<boolean> {
  try {
    const { rowCount } = await pool.query(insertAfterNewest, [JSON.stringify(entries), head.hash])
    return rowCount === entries.length
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === uniqueViolation) return false
    throw error
  }
}

/** While it lasts, no other process appends. What was inserted becomes durable when the turn's work resolves, or not at all. */
export type Turn = {
  readonly head: ChainHead
  /** The newest entries of this action, newest first, among the newest `limit` of the namespace: the lock is not held for a long look. */
  readonly newest: (namespace: string, action: AuditAction, limit: number) => Promise<readonly AuditEntry[]>
  readonly insert: (entries: readonly AuditEntry[]) => Promise<void>
}

export async function inTurn<T>(pool: pg.Pool, work: (turn: Turn) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query(takeTurn)
    const result = await work({
      head: headOf((await client.query<HeadRow>(newest)).rows),
      newest: async (namespace, action, limit) => {
        const { rows } = await client.query<AuditTexts>(textQuery(newestOfNamespace, [namespace, limit, action]))
        return rows.map(entryOfTexts)
      },
      insert: async entries => void (await client.query(insert, [JSON.stringify(entries)])),
    })
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // Whatever state the session is in, nobody gets it again: closing it ends its transaction and gives up its turn.
    client.release(true)
    throw error
  }
}

export async function readHead(pool: pg.Pool): Promise<ChainHead> {
  return headOf((await pool.query<HeadRow>(newest)).rows)
}

type HeadRow = { readonly sequence: string; readonly hash: string }

function headOf(rows: readonly HeadRow[]): ChainHead {
  const [row] = rows
  return row === undefined ? emptyHead : { sequence: Number(row.sequence), hash: row.hash }
}

/** As the server wrote them: the driver's own parsing of moments and JSON is most of what a verification would cost. */
const asTexts: pg.CustomTypesConfig = { getTypeParser: () => (text: string) => text }

function textQuery(text: string, values: unknown[]): pg.QueryArrayConfig {
  return { text, values, rowMode: 'array', types: asTexts }
}

/** Entries with a greater sequence than `after`, oldest first, at most `limit`. */
export async function readEntries(pool: pg.Pool, after: number, limit: number): Promise<readonly AuditEntry[]> {
  const text = `SELECT ${columns} FROM audit.entries WHERE sequence > $1 ORDER BY sequence LIMIT $2`
  const { rows } = await pool.query<AuditTexts>(textQuery(text, [after, limit]))
  return rows.map(entryOfTexts)
}
