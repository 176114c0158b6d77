// How often workloads may ask, before it costs anybody anything: by source address before the API server is asked who it is,
// then by the namespace that the API server confirmed. A claimed namespace does not count: a stranger could use up another
// tenant's requests with it.
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { createFairLimit } from '../../../lib/limits/fair-limit.ts'
import { createKeyedBuckets } from '../../../lib/limits/keyed-buckets.ts'

/** One pod: fifty requests at once, then five a second. */
const ofAddress = { burst: 50, millisecondsPerToken: 200 }
/** All pods of one namespace: two hundred requests at once, then ten a second. */
const ofNamespace = { burst: 200, millisecondsPerToken: 100 }
/** Requests to the API server about who asks; those who wait take turns by address. */
const reviews = { concurrency: 8, waitingPerKey: 4, waiting: 1024 }

export type RequestLimits = {
  /** Takes one request of the address. @throws AppError `too_many_requests` */
  readonly takeAddress: (address: string) => void
  /** Takes one request of the namespace. @throws AppError `too_many_requests` */
  readonly takeNamespace: (namespace: string) => void
  /** Runs `work` when it is the address's turn. @throws AppError `too_many_requests`, and what `work` throws */
  readonly review: <T>(address: string, work: () => Promise<T>) => Promise<T>
}

// Memory (limits of token requests): address or namespace → token bucket; address → requests that wait until the API server is
//     asked
//   life: the process; a place until its turn
//   bound: 10,000 keys of each, the one used longest ago forgotten first; 8 questions at once, 4 wait of an address and 1,024
//     in all
//   freshness: none is needed: buckets refill by time
//   replicas: each counts: two allow twice as much; the quota in the store is exact
/** Limits of one process, nothing used. */
export function createRequestLimits(clock: Clock): RequestLimits {
  const addresses = createKeyedBuckets(ofAddress, clock)
  const namespaces = createKeyedBuckets(ofNamespace, clock)
  const turns = createFairLimit(reviews)
  return {
    takeAddress: address => refuseFor(addresses.take(address)),
    takeNamespace: namespace => refuseFor(namespaces.take(namespace)),
    review: (address, work) => turns.run(address, work) ?? Promise.reject(tooMany(1)),
  }
}

function refuseFor(wait: number): void {
  if (wait > 0) throw tooMany(Math.ceil(wait / 1000))
}

function tooMany(retryAfterSeconds: number): AppError {
  return new AppError('too_many_requests', 'too many requests for tokens: keep a token and use it until it expires', {
    reason: 'RateLimited',
    retryAfterSeconds,
  })
}
