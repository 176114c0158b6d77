// The webhook inbox: a delivery is durable before GitHub gets its answer, and is handled once although it may come twice and although
// workers die. Deliveries that come at the same time are stored by one statement. It does not read bodies. Claims are leases: a worker that dies loses its deliveries when the lease is over.
// Source: https://www.postgresql.org/docs/current/sql-select.html (FOR UPDATE SKIP LOCKED for queues)
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createGroupCommit } from '../database/group-commit.ts'
import type { PrismaClient } from '../generated/client.ts'
import { type Delivery, endDeliveries, insertDeliveries, type NewDelivery } from './inbox-rows.ts'

export type ClaimedDelivery = Delivery & { readonly id: string; readonly attempts: number }

export type Inbox = {
  /** Durable when it resolves. The same (host, deliveryId) again is a duplicate, whatever its body. Rejects when too much waits already. */
  readonly receive: (delivery: Delivery) => Promise<'stored' | 'duplicate'>
  /** Up to `limit` (1 to 500) unhandled deliveries, oldest first, leased to this caller: nobody else gets them for `leaseSeconds` (default 60). */
  readonly claim: (limit: number, options?: { readonly leaseSeconds?: number }) => Promise<readonly ClaimedDelivery[]>
  /** Ends a delivery; `outcome` is a short word such as `woken`, `ignored`, `failed`. Its body is dropped. */
  readonly markHandled: (id: string, outcome: string) => Promise<void>
  /** Gives a claimed delivery back; it can be claimed again after `retryAfterSeconds`. */
  readonly release: (id: string, retryAfterSeconds: number) => Promise<void>
  readonly deleteHandledBefore: (moment: Date) => Promise<number>
}

type InboxDeps = { readonly prisma: PrismaClient; readonly pool: pg.Pool; readonly clock: Clock }

type Ended = { readonly id: string; readonly outcome: string }

const mostInStatement = 200
const mostWaiting = 10_000
/** Bodies are of very different sizes. What goes together must fit the embedded database, what waits the process. */
const mostBytesInStatement = 8 * 1024 * 1024
const mostBytesWaiting = 128 * 1024 * 1024

type ClaimedRow = {
  readonly id: string
  readonly deliveryId: string
  readonly event: string
  readonly action: string | null
  readonly host: string
  readonly receivedAt: Date
  readonly body: Uint8Array
  readonly attempts: number
}

/** `settled` resolves when no write is under way. */
export function createInbox(deps: InboxDeps): Inbox & { readonly settled: () => Promise<void> } {
  const { prisma, pool, clock } = deps
  const later = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000)
  const overflow = () => new AppError('unavailable', 'the webhook inbox does not keep up', { retryAfterSeconds: 5 })
  const arrivals = createGroupCommit<NewDelivery, 'stored' | 'duplicate'>({
    mostItems: mostInStatement,
    mostWaiting,
    weight: { of: ({ body }) => body.length, mostTogether: mostBytesInStatement, mostWaiting: mostBytesWaiting },
    async write(deliveries) {
      const stored = await insertDeliveries(pool, deliveries)
      return deliveries.map(({ id }) => (stored.has(id) ? 'stored' : 'duplicate'))
    },
    overflow,
  })
  const endings = createGroupCommit<Ended, true>({
    mostItems: mostInStatement,
    mostWaiting,
    async write(ended) {
      await endDeliveries(pool, ended, clock.now())
      return ended.map(() => true)
    },
    overflow,
  })
  return {
    async settled() {
      await Promise.all([arrivals.idle(), endings.idle()])
    },
    receive: delivery => arrivals.add({ ...delivery, id: randomUUID() }),
    async claim(limit, options = {}) {
      if (!Number.isInteger(limit) || limit < 1 || limit > 500)
        throw new AppError('invalid_request', 'limit must be a whole number from 1 to 500')
      const until = later(options.leaseSeconds ?? 60)
      const rows = await prisma.$queryRaw<ClaimedRow[]>`
        UPDATE broker.deliveries SET claimable_at = ${until}, attempts = attempts + 1
        WHERE id IN (
          SELECT id FROM broker.deliveries WHERE handled_at IS NULL AND claimable_at <= ${clock.now()}
          ORDER BY received_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED)
        RETURNING id, delivery_id AS "deliveryId", event, action, host, received_at AS "receivedAt", body, attempts`
      return rows.map(claimed).sort(byArrival)
    },
    async markHandled(id, outcome) {
      await endings.add({ id, outcome: outcome.slice(0, 200) })
    },
    async release(id, retryAfterSeconds) {
      await prisma.deliveryRow.updateMany({ where: { id, handledAt: null }, data: { claimableAt: later(retryAfterSeconds) } })
    },
    async deleteHandledBefore(moment) {
      return (await prisma.deliveryRow.deleteMany({ where: { handledAt: { lt: moment } } })).count
    },
  }
}

function claimed(row: ClaimedRow): ClaimedDelivery {
  const { action, body, ...rest } = row
  return { ...rest, ...(action === null ? {} : { action }), body: Buffer.from(body) }
}

function byArrival(a: ClaimedDelivery, b: ClaimedDelivery): number {
  return a.receivedAt.getTime() - b.receivedAt.getTime() || (a.id < b.id ? -1 : 1)
}
