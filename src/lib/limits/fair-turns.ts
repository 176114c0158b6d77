// Who gets one of a few places next: tenants take turns, and one tenant never occupies all places, so what is slow for one of them does not stop
// the work of others. Knows nothing of the work.
import { AppError } from '../errors.ts'
import { nextTurns, type Sharer, sharerText, type WaitingSharer } from './fair-share.ts'

export type FairTurns = {
  /** Resolves when the tenant has a place; `done` gives it back. Rejects with `unavailable` when too much of this tenant waits already. */
  readonly acquire: (tenant: string) => Promise<{ readonly done: () => void }>
}

type Waiting = WaitingSharer & { readonly start: () => void }

/** A tenant's Applications are reconciled ten at a time, so more than this is not expected. */
const mostWaiting = 100

/** `places` at once; of one tenant all but one, when there are several. */
export function createFairTurns(places: number): FairTurns {
  const tenantLimit = Math.max(1, places - 1)
  const running = new Set<Sharer>()
  let waiting: readonly Waiting[] = []
  let arrivals = 0

  const startNext = (): void => {
    const next = nextTurns([...running], waiting, places)
    const starting = waiting.filter(one => next.has(sharerText(one)))
    waiting = waiting.filter(one => !next.has(sharerText(one)))
    for (const one of starting) {
      running.add(one)
      one.start()
    }
  }

  return {
    acquire(tenant) {
      if (waiting.filter(one => one.tenant === tenant).length >= mostWaiting)
        throw new AppError('unavailable', `${mostWaiting} requests of ${tenant} wait already`, { retryAfterSeconds: 10 })
      const { promise, resolve } = Promise.withResolvers<{ readonly done: () => void }>()
      arrivals += 1
      const since = String(arrivals).padStart(16, '0')
      const one: Waiting = { tenant, name: since, since, tenantLimit, start: () => resolve({ done }) }
      const done = (): void => {
        if (running.delete(one)) startNext()
      }
      waiting = [...waiting, one]
      startNext()
      return promise
    },
  }
}
