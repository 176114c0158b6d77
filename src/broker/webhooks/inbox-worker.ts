// Handles the deliveries of the inbox: at once when one was stored, and periodically those that another process or a crash left
// behind. A delivery that fails is released with growing waits, and given up after 40 attempts, about two hours; until then
// none is lost.
import { type BackoffOptions, equalJitter } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { type Log, redactTokens } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { ClaimedDelivery, Inbox } from '../../store/inbox/inbox.ts'

export type InboxWorkerDeps = {
  readonly inbox: Pick<Inbox, 'claim' | 'markHandled' | 'release'>
  /** Resolves to the outcome word of the delivery. A rejection with `invalid_request` is final, any other is retried. */
  readonly handle: (delivery: ClaimedDelivery) => Promise<string>
  readonly clock: Clock
  readonly random: () => number
  /** Told how each attempt to handle a delivery ended. */
  readonly count?: (result: 'handled' | 'retried' | 'given_up') => void
  readonly log: Log
}

const batch = 50
const sweepMilliseconds = 15_000
const maxAttempts = 40
const backoff: BackoffOptions = { baseMilliseconds: 1000, capMilliseconds: 300_000 }

/** `wake` it when a delivery was stored. `stop` resolves when the claimed deliveries are handled. */
export function createInboxWorker(deps: InboxWorkerDeps): Periodic {
  const { inbox, clock, log } = deps

  const fail = async ({ id, deliveryId, event, attempts }: ClaimedDelivery, error: unknown): Promise<void> => {
    const isFinal = isAppError(error, 'invalid_request') || attempts >= maxAttempts
    log.error(
      { delivery: deliveryId, event, attempts, error: redactTokens(messageOf(error)) },
      isFinal ? 'webhook delivery given up' : 'failed to handle webhook delivery, will retry',
    )
    deps.count?.(isFinal ? 'given_up' : 'retried')
    if (isFinal) await inbox.markHandled(id, 'failed')
    else await inbox.release(id, Math.ceil(equalJitter(backoff, attempts, deps.random) / 1000))
  }

  const handleOne = async (delivery: ClaimedDelivery): Promise<void> => {
    try {
      await inbox.markHandled(delivery.id, await deps.handle(delivery))
      deps.count?.('handled')
    } catch (error) {
      await fail(delivery, error)
    }
  }

  const work = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const deliveries = await inbox.claim(batch)
      if (deliveries.length === 0) return
      await Promise.all(deliveries.map(handleOne))
    }
  }

  return periodic({ name: 'webhook inbox', everyMilliseconds: sweepMilliseconds, work, clock, log })
}
