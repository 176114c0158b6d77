// How long a key that failed waits before it is tried again: doubling per key with jitter, and no more than 20 retries a second
// (100 at once) over all keys of a controller, so that a broken world is not hammered. Figures after client-go's default limiter.
import { equalJitter } from '../../lib/backoff.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { takeToken } from './token-bucket.ts'

export type RetryLimiter = {
  /** Milliseconds to wait now; counts one more failure of the key. `capMilliseconds`: the longest wait for this kind of failure. */
  readonly delayAfterFailure: (key: string, capMilliseconds?: number) => number
  readonly forget: (key: string) => void
  readonly failures: (key: string) => number
}

/** Retry n (from 0) waits 0.25 s · 2ⁿ and up to as much again, at most 5 minutes in all. */
const retryBackoff = { baseMilliseconds: 500, capMilliseconds: 300_000 }
const overall = { burst: 100, millisecondsPerToken: 50 }

export function createRetryLimiter(deps: { readonly clock: Clock; readonly random: () => number }): RetryLimiter {
  const failures = new Map<string, number>()
  let bucket: number | undefined

  return {
    delayAfterFailure(key, capMilliseconds = retryBackoff.capMilliseconds) {
      const count = failures.get(key) ?? 0
      failures.set(key, count + 1)
      const { promised, wait } = takeToken(overall, bucket, elapsed(deps.clock))
      bucket = promised
      return Math.max(equalJitter({ ...retryBackoff, capMilliseconds }, count, deps.random), wait)
    },
    forget: key => void failures.delete(key),
    failures: key => failures.get(key) ?? 0,
  }
}
