// The peers of the bench: rows of the same content inserted into the same table by multi-row INSERTs, one after the other,
// without a chain; and a loop that reads the table page by page and hashes each row. Neither checks or guarantees anything.
import { createHash } from 'node:crypto'
import type { Database } from '../../../src/store/database/database.ts'
import { recordNumber } from './records.ts'

type Pool = Database['pool']

/** The same number as in one of our transactions. */
const rowsInStatement = 500
const rowsInPage = 1000
const columnNames = [
  'sequence',
  'at',
  'action',
  'actor',
  'namespace',
  'object',
  'outcome',
  'reason',
  'details',
  'previous_hash',
  'hash',
]

function statement(rows: number): string {
  const width = columnNames.length
  const places = Array.from(
    { length: rows },
    (_, row) => `(${columnNames.map((_, column) => `$${row * width + column + 1}`).join(',')})`,
  )
  return `INSERT INTO audit.entries (${columnNames.join(',')}) VALUES ${places.join(',')}`
}

/** A unique text in the form of a hash that costs next to nothing. */
const placeholderHash = (sequence: number): string => String(sequence).padStart(64, '0')

function valuesOf(sequence: number, at: string): readonly unknown[] {
  const { action, actor, namespace, object, outcome, reason, details } = recordNumber(sequence)
  return [
    sequence,
    at,
    action,
    actor,
    namespace,
    object,
    outcome,
    reason,
    JSON.stringify(details),
    placeholderHash(sequence - 1),
    placeholderHash(sequence),
  ]
}

/** Appends after the existing rows. Returns the number of inserted rows. */
export async function insertBatches(pool: Pool, rows: number): Promise<number> {
  const found = await pool.query<{ last: number }>('SELECT coalesce(max(sequence), 0)::int AS last FROM audit.entries')
  const last = found.rows[0]?.last ?? 0
  for (let done = 0; done < rows; done += rowsInStatement) {
    const count = Math.min(rowsInStatement, rows - done)
    const at = new Date().toISOString()
    const values = Array.from({ length: count }, (_, index) => valuesOf(last + done + index + 1, at)).flat()
    await pool.query(statement(count), values)
  }
  return rows
}

export async function readAndHash(pool: Pool): Promise<number> {
  let count = 0
  let last = '0'
  for (;;) {
    const { rows } = await pool.query<{ readonly sequence: string }>(
      `SELECT ${columnNames.join(', ')} FROM audit.entries WHERE sequence > $1 ORDER BY sequence LIMIT ${rowsInPage}`,
      [last],
    )
    const hashes = rows.map(row => createHash('sha256').update(JSON.stringify(row)).digest('hex'))
    if (new Set(hashes).size !== rows.length) throw new Error('two rows have the same hash')
    count += rows.length
    last = rows.at(-1)?.sequence ?? last
    if (rows.length < rowsInPage) return count
  }
}
