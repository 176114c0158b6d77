// A circuit breaker: after failures in a row, or when GitHub asked us to wait, requests are refused here, and after a pause one
// at a time is let through as a probe. It decides when to send again; it never repeats a request and never invents an answer.
// Source:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
// (an App that continues to send while it is limited may be banned).
import { exponential } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Fetch } from './bounded-fetch.ts'
import { githubReasons, limitedSeconds } from './failure.ts'

/** Shared by the clients of one App on one host. */
export type Circuit = {
  /** Why a request would be refused now; undefined when it would be sent. */
  readonly refusal: () => AppError | undefined
  /** `fetch` behind the circuit; refused requests reject with `refusal()` and are not sent. */
  readonly guard: (fetch: Fetch) => Fetch
}

const failuresInARow = 5
const pauses = { baseMilliseconds: 1000, capMilliseconds: 30_000 }
/** GitHub's longest window is an hour; a header cannot stop us for longer. */
const maxLimitMilliseconds = 3_600_000

type Pause = { readonly since: number; readonly milliseconds: number; readonly code: 'unavailable' | 'too_many_requests' }

// Memory (circuit breaker): App → time until which no request is sent
//   life: the pause that GitHub asks for, an hour at most, or a growing one up to 30 s
//   bound: one of each App
//   freshness: the next answer
//   replicas: each learns from its own answers
/**
 * A closed circuit: requests are sent until five in a row fail. `ofManyCredentials`: that the hour of one credential is used up
 * says nothing about the others.
 */
export function createCircuit(clock: Clock, { ofManyCredentials = false } = {}): Circuit {
  let failures = 0
  let pause: Pause | undefined
  let probing = false

  const remaining = (): number => {
    if (pause === undefined) return 0
    const elapsed = clock.now().getTime() - pause.since
    // A clock that was set back must not make us wait for the hours it lost.
    return elapsed < 0 ? 0 : pause.milliseconds - elapsed
  }
  const refusal = (): AppError | undefined => {
    if (pause === undefined || (remaining() <= 0 && !probing)) return undefined
    const limited = pause.code === 'too_many_requests'
    return new AppError(pause.code, limited ? 'GitHub asked us to wait' : 'GitHub is unreachable', {
      reason: limited ? githubReasons.rateLimited : githubReasons.unreachable,
      retryAfterSeconds: Math.max(1, Math.ceil(remaining() / 1000)),
    })
  }
  const wait = (milliseconds: number, code: Pause['code']): void => {
    // A wait that GitHub asked for is never shortened by another answer.
    if (milliseconds > remaining()) pause = { since: clock.now().getTime(), milliseconds, code }
  }
  const failed = (): void => {
    failures += 1
    if (failures < failuresInARow) return
    wait(exponential(pauses, failures - failuresInARow), 'unavailable')
  }
  /** `overtaken`: the request was sent before the current pause began, so its answer says nothing about the pause's end. */
  const answered = async (response: Response, overtaken: () => boolean): Promise<void> => {
    const { status, headers } = response
    const text = status === 403 ? await response.clone().text() : ''
    const limited = limitedSeconds(status, Object.fromEntries(headers), text, clock.now())
    if (limited !== undefined && ofManyCredentials && isOfOneCredential(headers)) return
    if (limited !== undefined) return wait(Math.min(maxLimitMilliseconds, limited * 1000), 'too_many_requests')
    if (overtaken()) return
    if (status >= 500) return failed()
    failures = 0
    pause = undefined
  }

  const send = async (request: () => Promise<Response>): Promise<Response> => {
    const before = pause
    const overtaken = (): boolean => pause !== before
    try {
      const response = await request()
      await answered(response, overtaken)
      return response
    } catch (error) {
      // Requests that were sent together and fail after the first pause began count no further.
      if (!overtaken()) failed()
      throw error
    }
  }

  return {
    refusal,
    guard: fetch => async (url, init) => {
      const refused = refusal()
      if (refused !== undefined) throw refused
      if (pause === undefined) return send(() => fetch(url, init))
      probing = true
      try {
        return await send(() => fetch(url, init))
      } finally {
        probing = false
      }
    },
  }
}

/** The primary limit, which is counted for the owner of the credential; a secondary one says `retry-after`. */
function isOfOneCredential(headers: Headers): boolean {
  return headers.get('x-ratelimit-remaining') === '0' && headers.get('retry-after') === null
}
