// The delay before a failed key is retried: exponential backoff per key with jitter, and at most 20 retries a second (bursts of
// 100) over all keys of a controller, so that an outage does not cause a flood. The figures are close to client-go's default
// rate limiter.
import { equalJitter } from '../../lib/backoff.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { takeToken } from '../../lib/limits/token-bucket.ts'

export type RetryLimiter = {
  /**
   * Counts one more failure of the key and returns the milliseconds to wait. `capMilliseconds`: the longest backoff for this
   * failure.
   */
  readonly delayAfterFailure: (key: string, capMilliseconds?: number) => number
  /** Resets the backoff of a key, after a success. */
  readonly forget: (key: string) => void
  /** Failures since the last `forget`. */
  readonly failures: (key: string) => number
}

/** Retry n (from 0) waits between 0.25 s · 2ⁿ and twice that, at most 5 minutes. */
const retryBackoff = { baseMilliseconds: 500, capMilliseconds: 300_000 }
const overall = { burst: 100, millisecondsPerToken: 50 }

/** No failures yet. One limiter per controller. */
export function createRetryLimiter(deps: { readonly clock: Clock; readonly random: () => number }): RetryLimiter {
  const failures = new Map<string, number>()
  let bucket: number | undefined

  return {
    delayAfterFailure(key, capMilliseconds = retryBackoff.capMilliseconds) {
      const count = failures.get(key) ?? 0
      failures.set(key, count + 1)
      const { reserved, wait } = takeToken(overall, bucket, elapsed(deps.clock))
      bucket = reserved
      return Math.max(equalJitter({ ...retryBackoff, capMilliseconds }, count, deps.random), wait)
    },
    forget: key => void failures.delete(key),
    failures: key => failures.get(key) ?? 0,
  }
}
