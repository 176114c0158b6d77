// The inbox's hot statements as SQL over the driver: many deliveries at once into the table, and many out of work (docs/adr/0013).
// One parameter holds what describes the deliveries and one all their bodies, one after the other, as bytes: nothing is escaped.
import type pg from 'pg'

export type Delivery = {
  readonly deliveryId: string
  readonly event: string
  readonly action?: string | undefined
  readonly host: string
  readonly receivedAt: Date
  readonly body: Buffer
}

export type NewDelivery = Delivery & { readonly id: string }

const insert = `
  INSERT INTO broker.deliveries (id, host, delivery_id, event, action, received_at, claimable_at, body)
  SELECT id, host, "deliveryId", event, action, "receivedAt", "receivedAt", substring($2::bytea FROM "from" FOR length)
  FROM json_to_recordset($1::json) AS delivery(id uuid, host text, "deliveryId" text, event text, action text,
    "receivedAt" timestamptz, "from" integer, length integer)
  ON CONFLICT DO NOTHING RETURNING id`

const end = `
  UPDATE broker.deliveries SET handled_at = $1, outcome = ended.outcome, body = NULL
  FROM json_to_recordset($2::json) AS ended(id uuid, outcome text)
  WHERE deliveries.id = ended.id AND handled_at IS NULL`

/** PostgreSQL keeps neither NUL nor half a surrogate pair, and one delivery's text must not keep the others of its batch out. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** One statement. Returns the ids of those that are new; of two in one batch that are the same delivery, the first is. */
export async function insertDeliveries(pool: pg.Pool, deliveries: readonly NewDelivery[]): Promise<ReadonlySet<string>> {
  // Bytes are counted from 1 in SQL.
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
  const { rows } = await pool.query<{ id: string }>(insert, [JSON.stringify(described), bodies])
  return new Set(rows.map(({ id }) => id))
}

/** One statement. Those that were ended before stay as they are. */
export async function endDeliveries(
  pool: pg.Pool,
  ended: readonly { readonly id: string; readonly outcome: string }[],
  at: Date,
): Promise<void> {
  const outcomes = ended.map(({ id, outcome }) => ({ id, outcome: storable(outcome) }))
  await pool.query(end, [at, JSON.stringify(outcomes)])
}
