// Counts what waits in the database for the broker or for people: webhook deliveries and onboardings. Every replica counts for
// itself; while the database does not answer the numbers are not known.
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { type Periodic, periodic } from '../lib/periodic.ts'
import type { BrokerStore } from '../store/store.ts'
import type { BrokerMetrics } from './metrics.ts'

const everyMilliseconds = 15_000

/** A loop that reads two indexes a round. */
export function createWaitingCount(deps: {
  readonly store: Pick<BrokerStore, 'inbox' | 'onboardings'>
  readonly metrics: Pick<BrokerMetrics, 'waiting'>
  readonly clock: Clock
  readonly log: Log
}): Periodic {
  const { store, metrics, clock, log } = deps
  const work = async (): Promise<void> => {
    try {
      const inbox = await store.inbox.backlog()
      metrics.waiting({ inbox, onboardings: await store.onboardings.counts() }, clock.now())
    } catch (error) {
      metrics.waiting(undefined, clock.now())
      throw error
    }
  }
  return periodic({ name: 'count of what waits', everyMilliseconds, work, clock, log })
}
