// The table of the webhook inbox as SQL over the `pg` driver: many deliveries are stored, claimed and ended by one statement
// (docs/adr/0013). One parameter describes the deliveries and one holds all their bodies, one after the other, as bytes:
// nothing is escaped. It does not read bodies.
// Source: https://www.postgresql.org/docs/current/sql-select.html (FOR UPDATE SKIP LOCKED for queues)
import type pg from 'pg'

/** A webhook as it arrived; `body` is byte for byte what was signed. */
export type Delivery = {
  readonly deliveryId: string
  readonly event: string
  readonly action?: string | undefined
  readonly host: string
  readonly receivedAt: Date
  readonly body: Buffer
}

/** A delivery with the id of its row. */
export type NewDelivery = Delivery & { readonly id: string }

/** A delivery leased to a worker; `attempts` counts its leases, this one included. */
export type ClaimedDelivery = Delivery & { readonly id: string; readonly attempts: number }

/**
 * In the order of the index that makes deliveries unique: two statements with the same deliveries wait for each other in one
 * direction only.
 */
const insert = `
  INSERT INTO broker.deliveries (id, host, delivery_id, event, action, received_at, claimable_at, body)
  SELECT id, host, "deliveryId", event, action, "receivedAt", "receivedAt", substring($2::bytea FROM "from" FOR length)
  FROM json_to_recordset($1::json) AS delivery(id uuid, host text, "deliveryId" text, event text, action text,
    "receivedAt" timestamptz, "from" integer, length integer)
  ORDER BY host, "deliveryId", "from"
  ON CONFLICT DO NOTHING`

const present = 'SELECT id FROM broker.deliveries WHERE id = ANY($1)'

const claim = `
  UPDATE broker.deliveries SET claimable_at = $1, attempts = attempts + 1
  WHERE id IN (
    SELECT id FROM broker.deliveries WHERE handled_at IS NULL AND claimable_at <= $2
    ORDER BY received_at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
  RETURNING id, delivery_id AS "deliveryId", event, action, host, received_at AS "receivedAt", body, attempts`

const end = `
  UPDATE broker.deliveries SET handled_at = $1, outcome = ended.outcome, body = NULL
  FROM json_to_recordset($2::json) AS ended(id uuid, outcome text)
  WHERE deliveries.id = ended.id AND handled_at IS NULL`

const release = 'UPDATE broker.deliveries SET claimable_at = $2 WHERE id = $1 AND handled_at IS NULL'

const backlog = 'SELECT count(*)::integer AS depth, min(received_at) AS oldest FROM broker.deliveries WHERE handled_at IS NULL'

const deleteBefore = 'DELETE FROM broker.deliveries WHERE handled_at < $1'

/** What waits in the inbox. */
export type InboxBacklog = { readonly depth: number; readonly oldest?: Date }

/** PostgreSQL stores neither NUL nor an unpaired surrogate, and one delivery's text must not make the whole batch fail. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** Stored by one statement. Returns the ids of those that are new; of two equal deliveries in one batch, the first is. */
export async function insertDeliveries(pool: pg.Pool, deliveries: readonly NewDelivery[]): Promise<ReadonlySet<string>> {
  // SQL counts bytes from 1.
  let from = 1
  const described = deliveries.map(({ id, host, deliveryId, event, action, receivedAt, body }) => {
    const place = { from, length: body.length }
    from += body.length
    return {
      id,
      host,
      deliveryId: storable(deliveryId),
      event: storable(event),
      action: action === undefined ? null : storable(action),
      receivedAt,
      ...place,
    }
  })
  const bodies = Buffer.concat(deliveries.map(({ body }) => body))
  // Planned once for a connection: at one delivery per statement that is two fifths of the server's work, and nothing in the
  // plan depends on the rows.
  const values = [JSON.stringify(described), bodies]
  const { rowCount } = await pool.query({ name: 'insert-deliveries', text: insert, values })
  const ids = deliveries.map(({ id }) => id)
  if (rowCount === ids.length) return new Set(ids)
  // GitHub delivers few twice: which ones were new is asked only then. Nobody deletes a row before it has been handled for days.
  const { rows } = await pool.query<{ id: string }>(present, [ids])
  return new Set(rows.map(({ id }) => id))
}

type ClaimedRow = Omit<ClaimedDelivery, 'action'> & { readonly action: string | null }

/** One statement. Leases up to `limit` unhandled deliveries that are claimable now, oldest first, until `until`. */
export async function claimDeliveries(
  pool: pg.Pool,
  lease: { readonly now: Date; readonly until: Date; readonly limit: number },
): Promise<readonly ClaimedDelivery[]> {
  const { rows } = await pool.query<ClaimedRow>(claim, [lease.until, lease.now, lease.limit])
  return rows.map(({ action, ...rest }) => (action === null ? rest : { ...rest, action })).sort(byArrival)
}

function byArrival(a: ClaimedDelivery, b: ClaimedDelivery): number {
  return a.receivedAt.getTime() - b.receivedAt.getTime() || (a.id < b.id ? -1 : 1)
}

/** One statement. Deliveries that have ended already stay as they are. */
export async function endDeliveries(
  pool: pg.Pool,
  ended: readonly { readonly id: string; readonly outcome: string }[],
  at: Date,
): Promise<void> {
  const outcomes = ended.map(({ id, outcome }) => ({ id, outcome: storable(outcome) }))
  await pool.query(end, [at, JSON.stringify(outcomes)])
}

/** Makes an unhandled delivery claimable at `claimableAt`, even while it is leased. */
export async function releaseDelivery(pool: pg.Pool, id: string, claimableAt: Date): Promise<void> {
  await pool.query(release, [id, claimableAt])
}

/** Returns how many rows were deleted. */
export async function deleteHandledBefore(pool: pg.Pool, time: Date): Promise<number> {
  return (await pool.query(deleteBefore, [time])).rowCount ?? 0
}

export async function readBacklog(pool: pg.Pool): Promise<InboxBacklog> {
  const { rows } = await pool.query<{ depth: number; oldest: Date | null }>(backlog)
  const { depth = 0, oldest = null } = rows[0] ?? {}
  return oldest === null ? { depth } : { depth, oldest }
}
