// Owns: the count of requests per hour and caller. All tokens of one installation share one bucket, as do all of one person.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
import type { Actor } from '../access.ts'
import { hours } from '../clock.ts'

export type Bucket = { readonly limit: number; readonly used: number; readonly remaining: number; readonly reset: number }

export type RateLimiter = {
  /** The bucket after `cost` more requests (0: only look). `address` identifies who has no credentials. */
  spend(actor: Actor, address: string, cost: number): Bucket
}

/** Beyond this many callers the oldest bucket is forgotten. */
const mostBuckets = 10_000

const keyOf = (actor: Actor, address: string): string => {
  switch (actor.kind) {
    case 'anonymous':
      return `address:${address}`
    case 'app':
      return `app:${actor.app.id}`
    case 'installation':
      return `installation:${actor.installation.id}`
    case 'user':
    case 'person':
      return `user:${actor.user.id}`
  }
}

export const createRateLimiter = (
  limits: { readonly authenticated: number; readonly anonymous: number },
  now: () => number,
): RateLimiter => {
  const buckets = new Map<string, { used: number; resetAt: number }>()
  return {
    spend: (actor, address, cost) => {
      const key = keyOf(actor, address)
      let bucket = buckets.get(key)
      if (!bucket || bucket.resetAt <= now()) {
        bucket = { used: 0, resetAt: now() + hours(1) }
        buckets.delete(key)
        buckets.set(key, bucket)
        const [oldest] = buckets.keys()
        if (buckets.size > mostBuckets && oldest !== undefined) buckets.delete(oldest)
      }
      bucket.used += cost
      const limit = actor.kind === 'anonymous' ? limits.anonymous : limits.authenticated
      const used = Math.min(bucket.used, limit)
      return {
        limit,
        used: bucket.used > limit ? limit + 1 : used,
        remaining: limit - used,
        reset: Math.floor(bucket.resetAt / 1000),
      }
    },
  }
}
