// How long a key that failed waits before it is tried again: doubling per key with jitter, and no more than 20 retries a second
// (100 at once) over all keys of a controller, so that a broken world is not hammered. Figures after client-go's default limiter.
import { equalJitter } from '../../lib/backoff.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'

export type RetryLimiter = {
  /** Milliseconds to wait now; counts one more failure of the key. `capMilliseconds`: the longest wait for this kind of failure. */
  readonly delayAfterFailure: (key: string, capMilliseconds?: number) => number
  readonly forget: (key: string) => void
  readonly failures: (key: string) => number
}

/** Retry n (from 0) waits 0.25 s · 2ⁿ and up to as much again, at most 5 minutes in all. */
const retryBackoff = { baseMilliseconds: 500, capMilliseconds: 300_000 }
const perSecond = 20
const burst = 100

export function createRetryLimiter(deps: { readonly clock: Clock; readonly random: () => number }): RetryLimiter {
  const failures = new Map<string, number>()
  // The moment up to which retries are promised; each one moves it by 1/20 s. It may lag behind now by the burst.
  let promised = Number.NEGATIVE_INFINITY

  function overall(): number {
    const now = elapsed(deps.clock)
    promised = Math.max(promised, now - (burst * 1000) / perSecond) + 1000 / perSecond
    return Math.max(0, promised - now)
  }

  return {
    delayAfterFailure(key, capMilliseconds = retryBackoff.capMilliseconds) {
      const count = failures.get(key) ?? 0
      failures.set(key, count + 1)
      return Math.max(equalJitter({ ...retryBackoff, capMilliseconds }, count, deps.random), overall())
    },
    forget: key => {
      failures.delete(key)
    },
    failures: key => failures.get(key) ?? 0,
  }
}
