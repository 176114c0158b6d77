// Counts requests per hour and caller. All tokens of one installation share one bucket, as do all tokens of one person.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
import { type Actor, installationSelects } from '../../state/access.ts'
import type { Installation } from '../../state/apps.ts'
import { hours } from '../../state/clock.ts'
import { type GitHubState, organizationById, repositoriesOf } from '../../state/github-state.ts'

export type Bucket = { readonly limit: number; readonly used: number; readonly remaining: number; readonly reset: number }

/** The requests per hour of every caller with credentials, and of those without. */
export type Limits = { readonly authenticated: number; readonly anonymous: number }

export type RateLimiter = {
  /** The bucket after `cost` more requests (0: only read it). `address` identifies a caller without credentials. */
  spend(actor: Actor, address: string, cost: number): Bucket
}

/** Above this number of callers the oldest bucket is dropped. */
const maxBuckets = 10_000
const maxOfAnInstallation = 12_500

/** The owner of a bucket, as GitHub names it in its refusals. */
export function callerOf(actor: Actor, address: string): string {
  switch (actor.kind) {
    case 'anonymous':
      return address
    case 'app':
      return `app ID ${actor.app.id}`
    case 'installation':
      return `installation ID ${actor.installation.id}`
    case 'user':
    case 'person':
      return `user ID ${actor.user.id}`
  }
}

/** 50 more for each repository and each user beyond 20, up to 12,500 requests per hour (auth.md B.4). */
function grownLimit(state: GitHubState, installation: Installation, base: number): number {
  const repositories = repositoriesOf(state, installation.accountId).filter(one => installationSelects(installation, one)).length
  const people = organizationById(state, installation.accountId)?.memberships.filter(one => one.state === 'active').length ?? 1
  const grown = base + 50 * Math.max(0, repositories - 20) + 50 * Math.max(0, people - 20)
  return Math.max(base, Math.min(grown, maxOfAnInstallation))
}

function limitOf(limits: Limits, state: GitHubState | undefined, actor: Actor): number {
  if (actor.kind === 'anonymous') return limits.anonymous
  if (actor.kind === 'installation' && state) return grownLimit(state, actor.installation, limits.authenticated)
  return limits.authenticated
}

/** `now` is milliseconds since the epoch; without a `state` limits do not grow. */
export function createRateLimiter(limits: Limits, now: () => number, state?: GitHubState): RateLimiter {
  const buckets = new Map<string, { used: number; resetAt: number }>()
  return {
    spend: (actor, address, cost) => {
      const key = callerOf(actor, address)
      let bucket = buckets.get(key)
      if (!bucket || bucket.resetAt <= now()) {
        bucket = { used: 0, resetAt: now() + hours(1) }
        buckets.delete(key)
        buckets.set(key, bucket)
        const [oldest] = buckets.keys()
        if (buckets.size > maxBuckets && oldest !== undefined) buckets.delete(oldest)
      }
      bucket.used += cost
      const limit = limitOf(limits, state, actor)
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
