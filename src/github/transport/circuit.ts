// Keeps us from calling a GitHub that is away or has told us to wait: after failures in a row, or a Retry-After, requests are refused here
// and one at a time is let through to look. It owns when to look again; it never repeats a request and never makes an answer up.
// Source: https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
// (who goes on calling while limited may be banned).
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Fetch } from './bounded-fetch.ts'
import { githubReasons, limitedSeconds } from './failure.ts'

export type Circuit = {
  /** Why a request would be refused now; undefined when it would be sent. */
  readonly refusal: () => AppError | undefined
  /** `fetch` behind the circuit; refused requests reject with `refusal()` and reach no network. */
  readonly guard: (fetch: Fetch) => Fetch
}

const failuresInARow = 5
const shortestPauseMilliseconds = 1000
const longestPauseMilliseconds = 30_000
/** GitHub's longest window is an hour; a header cannot shut us out for longer. */
const longestLimitMilliseconds = 3_600_000

type Pause = { readonly since: number; readonly milliseconds: number; readonly code: 'unavailable' | 'too_many_requests' }

export function createCircuit(clock: Clock): Circuit {
  let failures = 0
  let pause: Pause | undefined
  let looking = false

  const left = (): number => {
    if (pause === undefined) return 0
    const gone = clock.now().getTime() - pause.since
    // A clock that was set back must not keep us waiting for the hours it lost.
    return gone < 0 ? 0 : pause.milliseconds - gone
  }
  const refusal = (): AppError | undefined => {
    if (pause === undefined || (left() <= 0 && !looking)) return undefined
    const limited = pause.code === 'too_many_requests'
    return new AppError(pause.code, limited ? 'GitHub has told us to wait' : 'GitHub is away', {
      reason: limited ? githubReasons.rateLimited : githubReasons.unreachable,
      retryAfterSeconds: Math.max(1, Math.ceil(left() / 1000)),
    })
  }
  const wait = (milliseconds: number, code: Pause['code']): void => {
    // What GitHub asked for holds, whatever shorter wait another answer is good for.
    if (milliseconds > left()) pause = { since: clock.now().getTime(), milliseconds, code }
  }
  const failed = (): void => {
    failures += 1
    const tries = failures - failuresInARow
    if (tries < 0) return
    wait(Math.min(longestPauseMilliseconds, shortestPauseMilliseconds * 2 ** Math.min(tries, 10)), 'unavailable')
  }
  /** `overtaken`: sent before what we wait for now was known, so that it says nothing of its end; many on their way are one failure. */
  const answered = async (response: Response, overtaken: () => boolean): Promise<void> => {
    const { status, headers } = response
    const text = status === 403 ? await response.clone().text() : ''
    const limited = limitedSeconds(status, Object.fromEntries(headers), text, clock.now())
    if (limited !== undefined) return wait(Math.min(longestLimitMilliseconds, limited * 1000), 'too_many_requests')
    if (overtaken()) return
    if (status >= 500) return failed()
    failures = 0
    pause = undefined
  }

  return {
    refusal,
    guard: fetch => async (url, init) => {
      const refused = refusal()
      if (refused !== undefined) throw refused
      const begun = pause
      const overtaken = (): boolean => pause !== begun
      const isLook = begun !== undefined
      if (isLook) looking = true
      try {
        const response = await fetch(url, init)
        await answered(response, overtaken)
        return response
      } catch (error) {
        if (!overtaken()) failed()
        throw error
      } finally {
        if (isLook) looking = false
      }
    },
  }
}
