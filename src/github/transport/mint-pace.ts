// How many tokens may be made for one installation. GitHub counts the requests of an App, which all tenants share, and refuses all of them for the rest of
// the minute when there were too many: 900 points a minute, of which a write costs five, are 180 tokens. So what one tenant causes stays below that.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { takeToken } from '../../lib/limits/token-bucket.ts'
import { githubReasons } from './failure.ts'

/** 60 at once, then one a second: at most 120 in a minute. */
const ofInstallation = { burst: 60, millisecondsPerToken: 1000 }
const mostInstallations = 10_000
/** There are ten tokens by then: of a hundred who wait, not all retry every second. */
const retryAfterSeconds = 10

export type MintPace = {
  /** Why no token would be requested for the installation now; undefined when one would be. */
  readonly refusal: (installationId: number) => AppError | undefined
  /** Counts a request; call where there is no refusal. */
  readonly take: (installationId: number) => void
}

/** In memory: of one App, in one process. */
export function createMintPace(clock: Clock): MintPace {
  const reserved = new BoundedMap<number>(mostInstallations)
  const next = (installationId: number) => {
    const now = elapsed(clock)
    const known = reserved.get(String(installationId))
    // Only tokens that are there are taken, so a later time is from a clock that was set back: nobody waits for the hours it lost.
    return takeToken(ofInstallation, known !== undefined && known > now ? undefined : known, now)
  }
  return {
    refusal(installationId) {
      if (next(installationId).wait === 0) return undefined
      return new AppError('too_many_requests', 'many tokens of this installation were requested within a minute', {
        reason: githubReasons.rateLimited,
        retryAfterSeconds,
      })
    },
    take(installationId) {
      reserved.set(String(installationId), next(installationId).reserved)
    },
  }
}
