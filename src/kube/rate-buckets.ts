// Token buckets by key: `burst` at once, then one per `perMilliseconds`. Remembers a bounded number of keys; a forgotten key starts full.
import type { Clock } from '../lib/clock.ts'

export type RateBucketOptions = {
  readonly clock: Clock
  readonly burst: number
  readonly perMilliseconds: number
  readonly remembered: number
}

export type RateBuckets = { readonly take: (key: string) => boolean }

export function createRateBuckets(options: RateBucketOptions): RateBuckets {
  const { clock, burst, perMilliseconds, remembered } = options
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>()
  return {
    take(key) {
      const now = clock.now().getTime()
      const bucket = buckets.get(key)
      const gained = bucket === undefined ? burst : bucket.tokens + Math.max(0, now - bucket.at) / perMilliseconds
      const tokens = Math.min(burst, gained)
      buckets.delete(key)
      buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now })
      const [oldest] = buckets.keys()
      if (buckets.size > remembered && oldest !== undefined) buckets.delete(oldest)
      return tokens >= 1
    },
  }
}
