// Which refused requests become a line of the log, so that a person’s request id is found there. Everybody can make refusals, so
// the lines of one client and of all clients are bounded, and a line says how many were left out before it.
import type { Clock } from '../lib/clock.ts'
import { createKeyedBuckets } from '../lib/limits/keyed-buckets.ts'

/** One client: a page with its retries, then one every two seconds. */
const ofClient = { burst: 30, millisecondsPerToken: 2000 }
/** All clients: at most 600 lines of a minute after the first 300. */
const ofAll = { burst: 300, millisecondsPerToken: 100 }

export type RefusalLines = {
  /** Undefined when no line may be written; else how many were left out since the last line. */
  readonly take: (client: string) => { readonly leftOut: number } | undefined
}

// Memory (lines about refused requests): client address, and all together → token bucket; how many lines were left out
//   life: the process
//   bound: 10,000 addresses, the one used longest ago forgotten first
//   freshness: none is needed: buckets refill by time
//   replicas: each writes its own
/** Of one server. */
export function createRefusalLines(clock: Clock): RefusalLines {
  const clients = createKeyedBuckets(ofClient, clock)
  const all = createKeyedBuckets(ofAll, clock)
  let silent = 0
  return {
    take(client) {
      // The client first: one that floods must not use up the lines of the others.
      if (clients.take(client) > 0 || all.take('all') > 0) {
        silent += 1
        return undefined
      }
      const leftOut = silent
      silent = 0
      return { leftOut }
    },
  }
}
