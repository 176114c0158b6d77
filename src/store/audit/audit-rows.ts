// The table of the audit log as SQL over the `pg` driver: hundreds of entries go in one statement (docs/adr/0013). It inserts
// and reads whole batches and does not interpret entries. It must never update or delete. Several processes on one PostgreSQL
// take turns by a transaction-level advisory lock; the primary key on the sequence refuses what slips past.
// Source: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
import pg from 'pg'
import type { AuditAction } from '../../api/audit/audit-event.ts'
import type { AuditOutcome } from '../../api/audit/audit-event-shape.ts'
import { type ChainHead, emptyHead } from '../../lib/hash-chain/hash-chain.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { type AuditEntry, type AuditTexts, entryLine, entryOf } from './audit-chain.ts'
import { type AuditAbout, auditKeys } from './audit-keys.ts'

/** Any number that no other lock of this database uses. */
const appendLock = 7_312_001
const uniqueViolation = '23505'

const columns = 'sequence, at, action, actor, namespace, object, outcome, reason, details, previous_hash, hash'
/**
 * One parameter for the whole batch, parsed by the server: neither the statement nor its plan depends on the number of entries.
 */
const batch = `json_to_recordset($1::json) AS entry(sequence bigint, at timestamptz, action text, actor text, namespace text,
  object text, outcome text, reason text, details jsonb, "previousHash" text, hash text)`
const newest = 'SELECT sequence, hash FROM audit.entries ORDER BY sequence DESC LIMIT 1'
/** One round trip: the newest entry, and whether an earlier one is where it was. */
const newestAndKnown = `SELECT sequence, hash, (SELECT hash FROM audit.entries WHERE sequence = $1) = $2 AS known
  FROM audit.entries ORDER BY sequence DESC LIMIT 1`
const oldest = 'SELECT sequence, previous_hash AS hash FROM audit.entries ORDER BY sequence LIMIT 1'
/** The literals are those of a partial index. */
const cuts = `SELECT ${columns} FROM audit.entries WHERE action IN ('audit.prune-approved', 'audit.pruned') ORDER BY sequence DESC LIMIT 100`
const present = 'SELECT hash FROM audit.entries WHERE hash = ANY ($1)'

const newestOfNamespace = `SELECT ${columns} FROM (
    SELECT * FROM audit.entries WHERE namespace = $1 ORDER BY sequence DESC LIMIT $2
  ) AS newest WHERE action = $3 ORDER BY sequence DESC`

const insert = `INSERT INTO audit.entries (${columns}) SELECT entry.* FROM ${batch}`
const takeTurn = `SELECT pg_advisory_xact_lock(${appendLock})`
const insertAfterNewest = `WITH turn AS MATERIALIZED (${takeTurn})
  INSERT INTO audit.entries (${columns}) SELECT entry.* FROM turn CROSS JOIN ${batch}
  WHERE (SELECT hash FROM audit.entries ORDER BY sequence DESC LIMIT 1) = $2`

/**
 * Appends in one round trip if `head` is still the newest entry. Resolves to false when it is not: then nothing was written.
 * The statement may read the newest entry before it gets its turn; where another process appended in between, the primary key
 * refuses the whole batch.
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

/**
 * While a turn lasts, no other process appends. What was inserted becomes durable when the turn's work resolves, or not at all.
 */
export type Turn = {
  readonly head: ChainHead
  /** False when the log no longer has the entry that `inTurn` was given. */
  readonly hasKnown: boolean
  /** Those of the hashes that the log has. */
  readonly present: (hashes: readonly string[]) => Promise<ReadonlySet<string>>
  /** Entries of this action, newest first, among the newest `limit` of the namespace: the bound keeps the lock short. */
  readonly newest: (namespace: string, action: AuditAction, limit: number) => Promise<readonly AuditEntry[]>
  readonly insert: (entries: readonly AuditEntry[]) => Promise<void>
  /** The head before the first entry, when the log was cut there and an entry approves that; undefined otherwise. */
  readonly approvedStart: () => Promise<ChainHead | undefined>
}

/** Whether the log has this entry where it was. */
export async function hasEntry(pool: pg.Pool, known: ChainHead): Promise<boolean> {
  const { rows } = await pool.query<HeadRow & KnownRow>(newestAndKnown, [known.sequence, known.hash])
  return rows[0]?.known === true
}

/**
 * Runs `work` in a transaction that holds the append lock. `known` is an entry that should be there. A rejection rolls back and
 * rejects.
 */
export async function inTurn<T>(pool: pg.Pool, known: ChainHead | undefined, work: (turn: Turn) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query(takeTurn)
    const { rows: heads } = await client.query<HeadRow & KnownRow>(newestAndKnown, [known?.sequence ?? 0, known?.hash ?? ''])
    const result = await work({
      head: headOf(heads),
      hasKnown: known === undefined || heads[0]?.known === true,
      present: async hashes => {
        const { rows } = await client.query<{ hash: string }>(present, [hashes])
        return new Set(rows.map(({ hash }) => hash))
      },
      newest: async (namespace, action, limit) => {
        const { rows } = await client.query<AuditTexts>(textQuery(newestOfNamespace, [namespace, limit, action]))
        return rows.map(entryOf)
      },
      insert: async entries => void (await client.query(insert, [JSON.stringify(entries)])),
      async approvedStart() {
        const start = await readStart(client)
        const isApproval = ({ action, details }: AuditEntry) => action === 'audit.prune-approved' && sameJson(details.cut, start)
        return (await readCuts(client)).some(isApproval) ? start : undefined
      },
    })
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // The session may be in any state. Closing it ends its transaction and releases the lock.
    client.release(true)
    throw error
  }
}

/** The newest entry's sequence and hash; `emptyHead` while the log is empty. */
export async function readHead(pool: pg.Pool): Promise<ChainHead> {
  return headOf((await pool.query<HeadRow>(newest)).rows)
}

/** The head before the oldest entry: sequence 0 unless the log was cut. */
export async function readStart(client: pg.Pool | pg.PoolClient): Promise<ChainHead> {
  const [row] = (await client.query<HeadRow>(oldest)).rows
  return row === undefined ? emptyHead : { sequence: Number(row.sequence) - 1, hash: row.hash }
}

/** The newest 100 entries about cuts, newest first. */
export async function readCuts(client: pg.Pool | pg.PoolClient): Promise<readonly AuditEntry[]> {
  return (await client.query<AuditTexts>(textQuery(cuts, []))).rows.map(entryOf)
}

/** Removes the entries up to the cut, all or none, as an entry approves it; for the role of the program that may. */
export async function pruneThrough(pool: pg.Pool, approval: number, cut: ChainHead): Promise<number> {
  const { rows } = await pool.query<{ removed: string }>('SELECT audit.prune($1, $2, $3) AS removed', [
    approval,
    cut.sequence,
    cut.hash,
  ])
  return Number(rows[0]?.removed ?? 0)
}

type HeadRow = { readonly sequence: string; readonly hash: string }
type KnownRow = { readonly known: boolean | null }

function headOf(rows: readonly HeadRow[]): ChainHead {
  const [row] = rows
  return row === undefined ? emptyHead : { sequence: Number(row.sequence), hash: row.hash }
}

/** Columns as the server wrote them: the driver's parsing of timestamps and JSON is most of what a verification would cost. */
const asTexts: pg.CustomTypesConfig = { getTypeParser: () => (text: string) => text }

function textQuery(text: string, values: unknown[]): pg.QueryArrayConfig {
  return { text, values, rowMode: 'array', types: asTexts }
}

/** Which entries to read; every filter that is given must hold. */
export type AuditQuery = AuditAbout & {
  /** Only entries with a greater sequence, oldest first. */
  readonly after?: number
  /** Only entries with this sequence or a smaller one. */
  readonly through?: number
  /** Only entries with a smaller sequence; without `after` the newest come first. */
  readonly before?: number
  readonly namespace?: string
  readonly action?: AuditAction
  readonly actor?: string
  readonly outcome?: AuditOutcome
  readonly object?: string
  /** Only the entry about the creation of this token, by its SHA-256 in base64. */
  readonly hashedToken?: string
  /** Only entries written at this time or later. */
  readonly since?: Date
  /** Only entries written before this time. */
  readonly until?: Date
  /** Only entries with one of these actions. */
  readonly actions?: readonly AuditAction[]
  /** 1 to 1000. */
  readonly limit: number
}

/** At most `limit` entries that pass every filter of the query: oldest first with `after`, else newest first. */
export async function readEntries(pool: pg.Pool, query: AuditQuery): Promise<readonly AuditEntry[]> {
  return (await readRows(pool, query)).map(entryOf)
}

/** Entries as lines of JSON. */
export type EntryLines = {
  /** In order, each some complete lines: at most 60,000 characters, or one line that is longer. The caller may empty it. */
  readonly pieces: string[]
  readonly count: number
  /** The sequence of the last line; undefined without one. */
  readonly last: number | undefined
}

/** So many characters are one small object for the garbage collector also where they have two bytes each. */
const maxPiece = 60_000

function joined(lines: readonly string[]): string[] {
  const pieces: string[] = []
  let [first, size] = [0, 0]
  for (const [index, { length }] of lines.entries()) {
    if (index > first && size + length > maxPiece) {
      pieces.push(lines.slice(first, index).join(''))
      ;[first, size] = [index, 0]
    }
    size += length
  }
  if (first < lines.length) pieces.push(lines.slice(first).join(''))
  return pieces
}

/** As `readEntries`, for whoever only hands them on: no entry is parsed. */
export async function readEntryLines(pool: pg.Pool, query: AuditQuery): Promise<EntryLines> {
  const rows = await readRows(pool, query)
  const last = rows.at(-1)
  return {
    pieces: joined(rows.map(entryLine)),
    count: rows.length,
    last: last === undefined ? undefined : Number(last[0]),
  }
}

async function readRows(pool: pg.Pool, query: AuditQuery): Promise<readonly AuditTexts[]> {
  const isByKey = auditKeys(query).length > 0 || query.hashedToken !== undefined
  if (!isByKey) return read(pool, query, inOrder)
  // A key that is frequent is found in the next entries; of one that is rare, all entries are few.
  const near = await nearPart(pool, query)
  const found = near === undefined ? [] : await read(pool, near, foundFirst)
  return found.length === query.limit ? found : read(pool, query, foundFirst)
}

/** So many entries are looked at before the index says where all are. */
const nearEntries = 20_000

/** The query on the entries that come next in its order. */
async function nearPart(pool: pg.Pool, query: AuditQuery): Promise<OrderedQuery | undefined> {
  const { after, through, before, since, until } = query
  if (since !== undefined || until !== undefined) return undefined
  if (after !== undefined && through !== undefined && through - after <= nearEntries) return undefined
  if (after !== undefined) return { ...query, before: Math.min(before ?? Number.MAX_SAFE_INTEGER, after + nearEntries + 1) }
  const from = (before ?? (await readHead(pool)).sequence + 1) - nearEntries - 1
  return { ...query, after: Math.max(0, from), newestFirst: true }
}

type OrderedQuery = AuditQuery & { readonly newestFirst?: boolean }
type Statement = (where: string, order: string) => string

const inOrder: Statement = (where, order) => `SELECT ${columns} FROM audit.entries${where} ${order}`
/**
 * What is found by a key is found before it is put in order: with a limit in sight the planner would walk through the log from
 * its end, and of a key that is rare, through all of it.
 */
const foundFirst: Statement = (where, order) =>
  `WITH found AS MATERIALIZED (SELECT sequence FROM audit.entries${where}), page AS (SELECT sequence FROM found ${order})
    SELECT ${columns} FROM audit.entries WHERE sequence IN (SELECT sequence FROM page) ${order}`

async function read(pool: pg.Pool, query: OrderedQuery, statement: Statement): Promise<readonly AuditTexts[]> {
  const values: unknown[] = [query.limit]
  const keys = auditKeys(query)
  const conditions = [
    ['sequence >', query.after],
    ['sequence <=', query.through],
    ['sequence <', query.before],
    ['namespace =', query.namespace],
    ['action =', query.action],
    ['actor =', query.actor],
    ['outcome =', query.outcome],
    ['object =', query.object],
    ['at >=', query.since],
    ['at <', query.until],
    ["action = 'token.minted' AND details->>'hashedToken' =", query.hashedToken],
    ['audit.keys_of(actor, details) @>', keys.length === 0 ? undefined : keys],
    ['action = ANY', query.actions],
  ].flatMap(([comparison, value]) => (value === undefined ? [] : [`${comparison} ($${values.push(value)})`]))
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const isNewestFirst = query.newestFirst ?? query.after === undefined
  const text = statement(where, `ORDER BY sequence ${isNewestFirst ? 'DESC' : 'ASC'} LIMIT $1`)
  const { rows } = await pool.query<AuditTexts>(textQuery(text, values))
  // Taken out of the driver's answer: that lives until a full garbage collection, and rows that it holds would as well.
  return rows.splice(0)
}
