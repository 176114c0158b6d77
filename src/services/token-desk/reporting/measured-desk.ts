// The token desk, measured: what it answers is counted, and changed in nothing.
import { type Clock, elapsed } from '../../../lib/clock.ts'
import { isAppError } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import { type Periodic, periodic } from '../../../lib/periodic.ts'
import type { TokenRegistry } from '../../../store/token-registry.ts'
import type { TokenDesk } from '../token-desk.ts'
import type { DeskMetrics } from './metrics.ts'

type Deps = { readonly metrics: DeskMetrics; readonly clock: Clock }

/** The same desk. */
export function measuredDesk(desk: TokenDesk, { metrics, clock }: Deps): TokenDesk {
  return {
    ...desk,
    request: request =>
      timed(clock, () => desk.request(request), {
        done: metrics.delivered,
        failed: (seconds, error) => metrics.refused(isAppError(error) ? error.reason : undefined, seconds),
      }),
    revokeBy: (filter, reason) =>
      timed(clock, () => desk.revokeBy(filter, reason), {
        // What had no token took no time worth knowing.
        done: (seconds, count) => count > 0 && metrics.revoked('revoked', seconds),
        failed: seconds => metrics.revoked('pending', seconds),
      }),
  }
}

type Ends<T> = {
  readonly done: (seconds: number, result: T) => unknown
  readonly failed: (seconds: number, error: unknown) => unknown
}

/** Runs `work` and tells how long it took. Settles as `work` does. */
export async function timed<T>(clock: Clock, work: () => Promise<T>, { done, failed }: Ends<T>): Promise<T> {
  const began = elapsed(clock)
  const seconds = (): number => Math.max(0, elapsed(clock) - began) / 1000
  try {
    const result = await work()
    done(seconds(), result)
    return result
  } catch (error) {
    failed(seconds(), error)
    throw error
  }
}

const everyMilliseconds = 15_000

/** Counts the tokens of the registry; while it cannot be read the numbers are not known. */
export function createTokenCount(deps: Deps & { readonly tokens: Pick<TokenRegistry, 'counts'>; readonly log: Log }): Periodic {
  const { tokens, metrics, clock, log } = deps
  const work = async (): Promise<void> => {
    try {
      metrics.tokens(await tokens.counts())
    } catch (error) {
      metrics.tokens(undefined)
      throw error
    }
  }
  return periodic({ name: 'count of tokens', everyMilliseconds, work, clock, log })
}
