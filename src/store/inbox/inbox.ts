// The webhook inbox: a delivery is durable before GitHub gets its answer, and is handled once although it may arrive twice and
// workers may die. Deliveries that arrive at the same time are stored by one statement. A claim is a lease: a worker that dies
// loses its deliveries when the lease ends. The inbox does not read bodies.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createGroupCommit } from '../database/group-commit.ts'
import {
  type ClaimedDelivery,
  claimDeliveries,
  type Delivery,
  deleteHandledBefore,
  endDeliveries,
  type InboxBacklog,
  insertDeliveries,
  type NewDelivery,
  readBacklog,
  releaseDelivery,
} from './inbox-rows.ts'

export type { ClaimedDelivery, InboxBacklog }

/** The port for received webhooks. */
export type Inbox = {
  /**
   * Resolves when the delivery is durable. An equal (host, deliveryId) is a duplicate, whatever its body. Rejects with
   * `unavailable` when too much is waiting.
   */
  readonly receive: (delivery: Delivery) => Promise<'stored' | 'duplicate'>
  /** Up to `limit` (1 to 500) unhandled deliveries, oldest first, leased to this caller for `leaseSeconds` (default 60). */
  readonly claim: (limit: number, options?: { readonly leaseSeconds?: number }) => Promise<readonly ClaimedDelivery[]>
  /** Ends a delivery and drops its body; `outcome` is a short word such as `woken`, `ignored`, `failed`. */
  readonly markHandled: (id: string, outcome: string) => Promise<void>
  /** Returns a claimed delivery to the inbox; it can be claimed again after `retryAfterSeconds`. */
  readonly release: (id: string, retryAfterSeconds: number) => Promise<void>
  /** Deliveries that were received and not handled yet; `oldest` is absent when there is none. */
  readonly backlog: () => Promise<InboxBacklog>
  /** Returns how many deliveries were deleted. */
  readonly deleteHandledBefore: (time: Date) => Promise<number>
}

type Ended = { readonly id: string; readonly outcome: string }

const maxInStatement = 200
const maxWaiting = 10_000
/** Bodies differ much in size. One statement must fit the embedded database, and what waits must fit the process. */
const maxBytesInStatement = 8 * 1024 * 1024
const maxBytesWaiting = 128 * 1024 * 1024

// Memory (webhook deliveries that wait to be stored): delivery → its place in the next transaction; the same of deliveries that
//     were handled
//   life: until it is durable: GitHub gets its answer afterwards
//   bound: 10,000 and 128 MB of arrivals, 10,000 endings; more are refused
//   freshness: the transaction
//   replicas: each stores what it received; an equal delivery is stored once
/** `settled` resolves when no write is in progress. */
export function createInbox(deps: {
  readonly pool: pg.Pool
  readonly clock: Clock
}): Inbox & { readonly settled: () => Promise<void> } {
  const { pool, clock } = deps
  const later = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000)
  const overflow = () =>
    new AppError('unavailable', 'too many webhook deliveries are waiting to be stored', { retryAfterSeconds: 5 })
  const arrivals = createGroupCommit<NewDelivery, 'stored' | 'duplicate'>({
    maxItems: maxInStatement,
    maxWaiting,
    weight: { of: ({ body }) => body.length, maxTogether: maxBytesInStatement, maxWaiting: maxBytesWaiting },
    async write(deliveries) {
      const stored = await insertDeliveries(pool, deliveries)
      return deliveries.map(({ id }) => (stored.has(id) ? 'stored' : 'duplicate'))
    },
    overflow,
    // While one statement waits for the disk, the next ones are read and sent.
    sideBySide: { most: 2, waiting: 32 },
  })
  const endings = createGroupCommit<Ended, true>({
    maxItems: maxInStatement,
    maxWaiting,
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
      return claimDeliveries(pool, { now: clock.now(), until: later(options.leaseSeconds ?? 60), limit })
    },
    async markHandled(id, outcome) {
      await endings.add({ id, outcome: outcome.slice(0, 200) })
    },
    release: (id, retryAfterSeconds) => releaseDelivery(pool, id, later(retryAfterSeconds)),
    backlog: () => readBacklog(pool),
    deleteHandledBefore: time => deleteHandledBefore(pool, time),
  }
}
