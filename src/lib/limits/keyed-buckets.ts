// Token buckets by key, such as one for each tenant, in bounded memory: what a key may do does not depend on what other keys do.
import { BoundedMap } from '../bounded-map.ts'
import { type Clock, elapsed } from '../clock.ts'
import { type Rate, takeToken } from './token-bucket.ts'

/** Beyond this many keys the one that was used longest ago is forgotten: its bucket is full again. */
const maxKeys = 10_000

export type KeyedBuckets = {
  /**
   * Takes a token of the key's bucket and returns 0; without one it takes nothing and returns the milliseconds until there is
   * one.
   */
  readonly take: (key: string) => number
}

/** Full buckets of one rate. */
export function createKeyedBuckets(rate: Rate, clock: Clock): KeyedBuckets {
  const buckets = new BoundedMap<number>(maxKeys)
  return {
    take(key) {
      const { reserved, wait } = takeToken(rate, buckets.get(key), elapsed(clock))
      // Also after a refusal, so that many other keys cannot push out the one that is being refused.
      const kept = wait === 0 ? reserved : buckets.get(key)
      if (kept !== undefined) buckets.set(key, kept)
      return wait
    },
  }
}
