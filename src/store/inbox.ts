// The webhook inbox: a delivery is durable before GitHub gets its answer, and is handled once although it may come twice and although
// workers die. It does not read bodies. Claims are leases: a worker that dies loses its deliveries when the lease is over.
// Source: https://www.postgresql.org/docs/current/sql-select.html (FOR UPDATE SKIP LOCKED for queues)
import { randomUUID } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { PrismaClient } from './generated/client.ts'

export type Delivery = {
  readonly deliveryId: string
  readonly event: string
  readonly action?: string | undefined
  readonly host: string
  readonly receivedAt: Date
  readonly body: Buffer
}

export type ClaimedDelivery = Delivery & { readonly id: string; readonly attempts: number }

export type Inbox = {
  /** Durable when it resolves. The same (host, deliveryId) again is a duplicate, whatever its body. */
  readonly receive: (delivery: Delivery) => Promise<'stored' | 'duplicate'>
  /** Up to `limit` (1 to 500) unhandled deliveries, oldest first, leased to this caller: nobody else gets them for `leaseSeconds` (default 60). */
  readonly claim: (limit: number, options?: { readonly leaseSeconds?: number }) => Promise<readonly ClaimedDelivery[]>
  /** Ends a delivery; `outcome` is a short word such as `woken`, `ignored`, `failed`. Its body is dropped. */
  readonly markHandled: (id: string, outcome: string) => Promise<void>
  /** Gives a claimed delivery back; it can be claimed again after `retryAfterSeconds`. */
  readonly release: (id: string, retryAfterSeconds: number) => Promise<void>
  readonly deleteHandledBefore: (moment: Date) => Promise<number>
}

type InboxDeps = { readonly prisma: PrismaClient; readonly clock: Clock }

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

export function createInbox(deps: InboxDeps): Inbox {
  const { prisma, clock } = deps
  const later = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000)
  return {
    async receive(delivery) {
      const { count } = await prisma.deliveryRow.createMany({
        data: [
          {
            id: randomUUID(),
            host: delivery.host,
            deliveryId: delivery.deliveryId,
            event: delivery.event,
            action: delivery.action ?? null,
            receivedAt: delivery.receivedAt,
            body: Uint8Array.from(delivery.body),
            claimableAt: delivery.receivedAt,
          },
        ],
        skipDuplicates: true,
      })
      return count === 1 ? 'stored' : 'duplicate'
    },
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
      await prisma.deliveryRow.updateMany({
        where: { id, handledAt: null },
        data: { handledAt: clock.now(), outcome: outcome.slice(0, 200), body: null },
      })
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
