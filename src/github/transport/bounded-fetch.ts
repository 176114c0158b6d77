// The HTTP of the GitHub client: fetch with a deadline, a bound on the answer's size, and redirects only within the same origin
// (a renamed repository answers 301). Credentials never follow a redirect to another host.
import { AppError } from '../../lib/errors.ts'
import { withBoundedBody } from '../../lib/http/bounded-body.ts'
import { githubReasons } from './failure.ts'

/** The part of the platform's fetch that the clients use. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>

type FetchBounds = { readonly timeoutMilliseconds: number; readonly maximumBytes: number }

/** GitHub itself ends a request after 10 s; the largest page of 100 items is far below 10 MB. */
const defaultBounds: FetchBounds = { timeoutMilliseconds: 15_000, maximumBytes: 10 * 1024 * 1024 }

const maxRedirects = 3
const redirectStatuses = new Set([301, 302, 303, 307, 308])

/**
 * A fetch that sends requests to the origin of `base` only: a Link header of a page could name another host, which would
 * receive the credential.
 * @throws AppError `unavailable` on a timeout, `upstream_failed` for an answer that is too large or redirects to another origin
 */
export function createBoundedFetch(
  base: string,
  underlying: Fetch = globalThis.fetch,
  bounds: FetchBounds = defaultBounds,
): Fetch {
  const { origin } = new URL(base)
  return async (url, init = {}) => {
    if (new URL(url).origin !== origin)
      throw new AppError(
        'upstream_failed',
        'GitHub names another host for its API: spec.endpoints.api of the ClusterGitHubApp must be that one',
      )
    const deadline = AbortSignal.timeout(bounds.timeoutMilliseconds)
    const signal = init.signal ? AbortSignal.any([deadline, init.signal]) : deadline
    try {
      return await follow(underlying, url, { ...init, signal, redirect: 'manual' }, bounds)
    } catch (error) {
      if (deadline.aborted)
        throw new AppError('unavailable', `GitHub did not answer within ${bounds.timeoutMilliseconds} ms`, {
          reason: githubReasons.unreachable,
        })
      throw error
    }
  }
}

async function follow(underlying: Fetch, first: string, init: RequestInit, bounds: FetchBounds): Promise<Response> {
  const tooLarge = () => new AppError('upstream_failed', `GitHub's answer is larger than ${bounds.maximumBytes} bytes`)
  let url = first
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await underlying(url, init)
    if (!redirectStatuses.has(response.status)) return await withBoundedBody(response, bounds.maximumBytes, tooLarge)
    await response.body?.cancel()
    url = redirectTarget(url, response, init.method ?? 'GET')
  }
  throw new AppError('upstream_failed', `GitHub redirected more than ${maxRedirects} times`)
}

function redirectTarget(from: string, response: Response, method: string): string {
  const location = response.headers.get('location') ?? ''
  const target = URL.canParse(location, from) ? new URL(location, from) : undefined
  if (method !== 'GET' || target === undefined || target.origin !== new URL(from).origin)
    throw new AppError('upstream_failed', 'GitHub redirected a request to another host, or redirected a write')
  return target.href
}
