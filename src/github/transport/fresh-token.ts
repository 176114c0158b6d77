// GitHub may refuse a token that is seconds old, because not all of its servers know it yet (401) or know what it may do (403);
// octokit/auth-app.js#65 and #589. Such a refusal is waited out, a few times and within seconds; that of an older token is final.
import type { Clock } from '../../lib/clock.ts'

/** A token that was minted within this time before the first request counts as new. */
const freshMilliseconds = 5000
const waitsMilliseconds = [200, 600, 1800]

export type FreshToken<T> = {
  readonly clock: Clock
  /** Undefined: it may be new. */
  readonly mintedAt: Date | undefined
  /** Whether GitHub refused the token, by what `work` resolved to or rejected with. */
  readonly isRefused: (outcome: { readonly result: T } | { readonly error: unknown }) => boolean
  /** Ends the waiting; the refusal is then the outcome. */
  readonly signal?: AbortSignal
}

/** Does `work`, and again while GitHub refuses a new token; settles as the last attempt did. Refused work must have no effect. */
export async function untilTokenIsKnown<T>(token: FreshToken<T>, work: () => Promise<T>): Promise<T> {
  const { clock, mintedAt, signal } = token
  const isNew = (): boolean => mintedAt === undefined || clock.now().getTime() - mintedAt.getTime() < freshMilliseconds
  for (const wait of waitsMilliseconds) {
    const outcome = await work().then(
      result => ({ result }),
      (error: unknown) => ({ error }),
    )
    if (signal?.aborted || !isNew() || !token.isRefused(outcome)) return settled(outcome)
    await clock.sleep(wait, signal)
  }
  return work()
}

function settled<T>(outcome: { readonly result: T } | { readonly error: unknown }): T {
  if ('error' in outcome) throw outcome.error
  return outcome.result
}
