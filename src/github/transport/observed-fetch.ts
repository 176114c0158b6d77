// Tells an observer about each answer of GitHub: what was asked for, how long it took, and what is left of the rate limit. It
// changes no request and no answer, and reads neither a body nor a credential.
// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#checking-the-status-of-your-rate-limit
import { type Clock, elapsed } from '../../lib/clock.ts'
import type { Fetch } from './bounded-fetch.ts'

/** `mint` and `revoke`: an installation token. Of all others, `read` is what changes nothing. */
export const githubOperations = ['mint', 'revoke', 'read', 'write'] as const
export type GitHubOperation = (typeof githubOperations)[number]

/** The primary rate limit of the credential, in requests. */
export type RateLimit = { readonly limit: number; readonly remaining: number; readonly resetAt: Date }

export type ObservedAnswer = {
  readonly operation: GitHubOperation
  /** 0: there was no answer. */
  readonly status: number
  readonly seconds: number
  /** Absent where GitHub says none, as a GitHub Enterprise Server without rate limits. */
  readonly rateLimit: RateLimit | undefined
}

/** Must not throw, and must not wait. */
export type GitHubObserver = (answer: ObservedAnswer) => void

/** `fetch`, with `observe` called for each answer and for each failure to get one. */
export function observedFetch(fetch: Fetch, observe: GitHubObserver, clock: Clock): Fetch {
  return async (url, init) => {
    const began = elapsed(clock)
    const operation = operationOf(init?.method ?? 'GET', new URL(url).pathname)
    const seconds = (): number => Math.max(0, elapsed(clock) - began) / 1000
    try {
      const response = await fetch(url, init)
      observe({ operation, status: response.status, seconds: seconds(), rateLimit: rateLimitIn(response.headers) })
      return response
    } catch (error) {
      observe({ operation, status: 0, seconds: seconds(), rateLimit: undefined })
      throw error
    }
  }
}

function operationOf(method: string, path: string): GitHubOperation {
  if (method === 'POST' && /\/app\/installations\/\d+\/access_tokens$/.test(path)) return 'mint'
  if (method === 'DELETE' && path.endsWith('/installation/token')) return 'revoke'
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write'
}

/** Only of the resource `core`, which all requests of the platform count against. */
function rateLimitIn(headers: Headers): RateLimit | undefined {
  if ((headers.get('x-ratelimit-resource') ?? 'core') !== 'core') return undefined
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map(name => {
    const text = headers.get(`x-ratelimit-${name}`) ?? ''
    return /^\d{1,12}$/.test(text) ? Number(text) : undefined
  })
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  return { limit, remaining, resetAt: new Date(reset * 1000) }
}
