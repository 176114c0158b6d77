// Turns of tenants at a few places: one tenant never occupies all of them, so what is slow for one does not stop the work of
// others.
import { AppError } from '../errors.ts'
import { createFairLimit } from './fair-limit.ts'

export type FairTurns = {
  /** The result of `work`. Rejects with `unavailable` when too much of this tenant waits already. */
  readonly run: <T>(tenant: string, work: () => Promise<T>) => Promise<T>
}

/** A tenant's Applications are reconciled ten at a time, so more than this is not expected. */
const maxWaiting = 100

/** `places` at once; of one tenant all but one, when there are several. */
export function createFairTurns(places: number): FairTurns {
  const perKey = Math.max(1, places - 1)
  const limit = createFairLimit({ concurrency: places, perKey, waitingPerKey: maxWaiting, waiting: Number.POSITIVE_INFINITY })
  return {
    async run(tenant, work) {
      const result = limit.run(tenant, work)
      if (result !== undefined) return result
      throw new AppError('unavailable', `${maxWaiting} requests of ${tenant} wait already`, { retryAfterSeconds: 10 })
    },
  }
}
