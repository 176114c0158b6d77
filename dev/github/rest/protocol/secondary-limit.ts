// The limits against bursts: concurrent requests, points per minute and endpoint, content created per minute and hour. It never
// responds. https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
import { hours, minutes } from '../../state/clock.ts'
import type { LimitStatus } from './limit-errors.ts'

export type SecondaryLimits = {
  /** Concurrent requests per caller; GitHub: 100. */
  readonly concurrent?: number
  /** Points per minute, caller and endpoint; reading costs 1, writing 5. GitHub: 900. */
  readonly points?: number
  /** Requests that create content, per minute; GitHub: 80. */
  readonly contentPerMinute?: number
  /** The same per hour; GitHub: 500. */
  readonly contentPerHour?: number
  /** Status of the refusal; default 403. */
  readonly status?: LimitStatus
  /** Whether the refusal says how long to wait; default yes. */
  readonly retryAfter?: boolean
}

export type Refused = { readonly status: LimitStatus; readonly retryAfter: number | undefined }

export type SecondaryLimiter = {
  /**
   * Counts a request as started; `endpoint` is the path of its route, `/repos/{owner}/{repo}`. Do not call `leave` for a
   * refused one.
   */
  enter(caller: string, method: string, endpoint: string): Refused | undefined
  leave(caller: string): void
}

const maxWindows = 10_000
/** GitHub's advice when it does not know the time. */
const defaultWait = 60

/** Tokens and the App's own resources do not count as content. */
function makesContent(method: string, endpoint: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && !/^\/(?:app|applications|installation|credentials)(?:\/|$)/.test(endpoint)
}

/** `now` is milliseconds since the epoch. */
export function createSecondaryLimiter(limits: SecondaryLimits, now: () => number): SecondaryLimiter {
  const underWay = new Map<string, number>()
  const windows = new Map<string, { used: number; readonly endsAt: number }>()

  /** Seconds to wait until the window has room for `cost`; `undefined` when it has room now. */
  const full = (key: string, cost: number, most: number, length: number): number | undefined => {
    let window = windows.get(key)
    if (!window || window.endsAt <= now()) {
      window = { used: 0, endsAt: now() + length }
      windows.delete(key)
      windows.set(key, window)
      const [oldest] = windows.keys()
      if (windows.size > maxWindows && oldest !== undefined) windows.delete(oldest)
    }
    if (window.used + cost > most) return Math.max(1, Math.ceil((window.endsAt - now()) / 1000))
    window.used += cost
    return undefined
  }

  const waitOf = (caller: string, method: string, endpoint: string): number | undefined => {
    if ((underWay.get(caller) ?? 0) >= (limits.concurrent ?? 100)) return defaultWait
    const cost = method === 'GET' || method === 'HEAD' ? 1 : 5
    const points = full(`points ${caller} ${endpoint}`, cost, limits.points ?? 900, minutes(1))
    if (points !== undefined || !makesContent(method, endpoint)) return points
    return (
      full(`minute ${caller}`, 1, limits.contentPerMinute ?? 80, minutes(1)) ??
      full(`hour ${caller}`, 1, limits.contentPerHour ?? 500, hours(1))
    )
  }

  return {
    enter: (caller, method, endpoint) => {
      const wait = waitOf(caller, method, endpoint)
      if (wait !== undefined) return { status: limits.status ?? 403, retryAfter: limits.retryAfter === false ? undefined : wait }
      underWay.set(caller, (underWay.get(caller) ?? 0) + 1)
      return undefined
    },
    leave: caller => {
      const left = (underWay.get(caller) ?? 1) - 1
      if (left > 0) underWay.set(caller, left)
      else underWay.delete(caller)
    },
  }
}
