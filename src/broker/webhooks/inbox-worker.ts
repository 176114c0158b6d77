// Drains the inbox: at once when a delivery was stored, and by a sweep for what another process or a crash left behind.
// A delivery that fails is given back with growing waits and given up after a day's worth of attempts; nothing is lost in between.
import { type BackoffOptions, equalJitter } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import { type Log, redactTokens } from '../../lib/log.ts'
import type { ClaimedDelivery, Inbox } from '../../store/inbox/inbox.ts'

export type InboxWorkerDeps = {
  readonly inbox: Inbox
  readonly handle: (delivery: ClaimedDelivery) => Promise<string>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
}

export type InboxWorker = {
  /** A delivery was stored: look now. */
  readonly poke: () => void
  readonly start: () => void
  /** Resolves when the work under way is done. */
  readonly stop: () => Promise<void>
}

const batch = 50
const sweepMilliseconds = 15_000
const mostAttempts = 40
const backoff: BackoffOptions = { baseMilliseconds: 1000, capMilliseconds: 300_000 }

export function createInboxWorker(deps: InboxWorkerDeps): InboxWorker {
  const { inbox, clock, log } = deps
  const stopped = new AbortController()
  let poked: PromiseWithResolvers<void> = Promise.withResolvers()
  let running: Promise<void> = Promise.resolve()

  const handleOne = async (delivery: ClaimedDelivery): Promise<void> => {
    try {
      await inbox.markHandled(delivery.id, await deps.handle(delivery))
    } catch (error) {
      const hopeless = (error instanceof AppError && error.code === 'invalid_request') || delivery.attempts >= mostAttempts
      log.error(
        {
          delivery: delivery.deliveryId,
          event: delivery.event,
          attempts: delivery.attempts,
          reason: redactTokens(messageOf(error)),
        },
        hopeless ? 'webhook given up' : 'webhook not handled yet',
      )
      if (hopeless) await inbox.markHandled(delivery.id, 'failed')
      else await inbox.release(delivery.id, Math.ceil(equalJitter(backoff, delivery.attempts, deps.random) / 1000))
    }
  }

  const drain = async (): Promise<void> => {
    for (;;) {
      if (stopped.signal.aborted) return
      const deliveries = await inbox.claim(batch)
      if (deliveries.length === 0) return
      await Promise.all(deliveries.map(handleOne))
    }
  }

  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      poked = Promise.withResolvers()
      try {
        await drain()
      } catch (error) {
        log.error({ reason: redactTokens(messageOf(error)) }, 'inbox not drained')
      }
      const waiting = new AbortController()
      const pause = clock.sleep(sweepMilliseconds, AbortSignal.any([stopped.signal, waiting.signal])).catch(() => undefined)
      await Promise.race([poked.promise, pause])
      waiting.abort()
    }
  }

  return {
    poke: () => poked.resolve(),
    start() {
      running = loop()
    },
    async stop() {
      stopped.abort()
      await running
    },
  }
}
