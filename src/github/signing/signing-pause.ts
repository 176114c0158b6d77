// After a signer failed: signatures are refused here for a while that grows, so that whoever asks learns of it before anything is
// intended, counted or sent for a token that nobody can request.
import { exponential } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'

export type SigningPause = {
  /** Why nothing would be signed now, with the rest of the pause; undefined when the signer would be asked. */
  readonly refusal: () => AppError | undefined
  /** Resolves as `sign`. While it pauses it throws `refusal()`, and does not call `sign`. */
  readonly around: <T>(sign: () => Promise<T>) => Promise<T>
}

const pauses = { baseMilliseconds: 1000, capMilliseconds: 30_000 }
/** A signer may ask for a longer pause, up to this. */
const maxAskedSeconds = 300

// Memory (pause of a signer): App → failure of its signer
//   life: a growing pause up to 30 s, or what the signer asked for, up to five minutes
//   bound: one of each App
//   freshness: the next signature; another client, which a changed App or Secret makes
//   replicas: each learns from its own
/** No pause until a signature fails. */
export function createSigningPause(clock: Clock): SigningPause {
  let failures = 0
  let failed: { readonly error: AppError; readonly since: number; readonly milliseconds: number } | undefined

  const refusal = (): AppError | undefined => {
    if (failed === undefined) return undefined
    const elapsed = clock.now().getTime() - failed.since
    const { error, milliseconds } = failed
    // A clock that was set back must not make us wait for the hours it lost.
    if (elapsed < 0 || elapsed >= milliseconds) return undefined
    const retryAfterSeconds = Math.max(1, Math.ceil((milliseconds - elapsed) / 1000))
    return new AppError(error.code, error.message, { retryAfterSeconds, ...defined({ reason: error.reason }) })
  }
  return {
    refusal,
    async around(sign) {
      const refused = refusal()
      if (refused !== undefined) throw refused
      const before = failed
      try {
        const signature = await sign()
        failures = 0
        failed = undefined
        return signature
      } catch (error) {
        // Of signatures that were asked for together, one failure counts.
        if (isAppError(error) && failed === before) {
          const asked = Math.min(error.retryAfterSeconds ?? 0, maxAskedSeconds) * 1000
          failed = { error, since: clock.now().getTime(), milliseconds: Math.max(asked, exponential(pauses, failures)) }
          failures += 1
        }
        throw error
      }
    },
  }
}
