// The record that a token is delivered, before it leaves. Deliveries of one token that come at once are one write: a thousand
// pods of a ServiceAccount that ask for their token do not wait for a thousand writes to one row, each after the other.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { FollowingFlight } from '../../lib/single-flight.ts'
import type { PrismaClient } from '../generated/client.ts'

type Deps = {
  readonly prisma: { readonly tokenRow: Pick<PrismaClient['tokenRow'], 'updateMany'> }
  readonly clock: Pick<Clock, 'now'>
}

// Memory (deliveries that are being recorded): token → the write under way and the next one, with the number of its deliveries
//   life: until they settle
//   bound: two of each token that requests in progress deliver
//   freshness: each write begins after everybody whom it stands for asked for it
//   replicas: each writes
/** Resolves when the delivery is durable; rejects with `conflict` when the token could not be delivered by then. */
export function createDeliveries({ prisma, clock }: Deps): (id: string) => Promise<void> {
  const flights = new FollowingFlight<void>()
  /** Those for whom the next write of the token stands. */
  const waiting = new Map<string, number>()
  const write = async (id: string): Promise<void> => {
    const deliveries = waiting.get(id) ?? 0
    waiting.delete(id)
    const { count } = await prisma.tokenRow.updateMany({
      where: { id, state: 'minted' },
      data: { deliveredAt: clock.now(), deliveries: { increment: deliveries } },
    })
    if (count !== 1) throw new AppError('conflict', 'the token was revoked before it could be delivered')
  }
  return id => {
    waiting.set(id, (waiting.get(id) ?? 0) + 1)
    return flights.run(id, () => write(id))
  }
}
