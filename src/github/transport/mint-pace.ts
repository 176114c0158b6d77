// How many tokens may be made. GitHub counts the requests of an App, which all tenants share, and refuses all of them for the
// rest of the minute when there were too many: 900 points a minute, of which a write costs five, are 180 tokens. So all
// installations together stay below that over two replicas, and one of them alone leaves room for the others.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { type Rate, takeToken, tokensIn } from '../../lib/limits/token-bucket.ts'
import { githubReasons } from './failure.ts'

/**
 * Of the App, by one process: at most 126 and 45 in a minute, so that a leader and one other replica leave 45 points for reads.
 * The leader has more, because controllers ask as well as workloads.
 */
const ofApp = {
  leader: { burst: 55, millisecondsPerToken: 850 },
  follower: { burst: 15, millisecondsPerToken: 2000 },
} satisfies Record<string, Rate>

/** Of one installation, by one process: at most 120 in a minute. */
const ofInstallation: Rate = { burst: 60, millisecondsPerToken: 1000 }

/**
 * An installation within this rate has precedence: all others leave ten of the App's tokens. A push needs two or three tokens,
 * and ten installations that request without end do not use up in a minute what comes in a minute.
 */
const precedence: Rate = { burst: 4, millisecondsPerToken: 10_000 }
const leftForPrecedence = 10

const maxInstallations = 10_000
/** There are ten tokens by then: of a hundred who wait, not all retry every second. */
const retryAfterSeconds = 10

export type MintPace = {
  /** Why no token would be requested for the installation now; undefined when one would be. */
  readonly refusal: (installationId: number) => AppError | undefined
  /** Counts a request; call where there is no refusal. */
  readonly take: (installationId: number) => void
}

/** The buckets of an installation. */
type Used = { readonly own: number; readonly precedence: number | undefined }

// Memory (pace of minting): App, and each installation → token buckets of tokens that may be made
//   life: the process
//   bound: one App; 10,000 installations, the one used longest ago forgotten first
//   freshness: none is needed: buckets refill by time
//   replicas: each counts: the shares of a leader and one other replica together stay below GitHub’s limit
/** In memory: of one App, in one process. */
export function createMintPace(clock: Clock, isLeader: () => boolean): MintPace {
  const installations = new BoundedMap<Used>(maxInstallations)
  let app: number | undefined
  const rateOfApp = (): Rate => (isLeader() ? ofApp.leader : ofApp.follower)

  return {
    refusal(installationId) {
      const now = elapsed(clock)
      const used = installations.get(String(installationId))
      if (available(ofInstallation, used?.own, now) < 1) return tooMany('this installation')
      const left = hasPrecedence(used, now) ? 0 : leftForPrecedence
      return available(rateOfApp(), app, now) < 1 + left ? tooMany('this GitHub App') : undefined
    },
    take(installationId) {
      const now = elapsed(clock)
      const used = installations.get(String(installationId))
      installations.set(String(installationId), {
        own: taken(ofInstallation, used?.own, now),
        precedence: hasPrecedence(used, now) ? taken(precedence, used?.precedence, now) : used?.precedence,
      })
      app = taken(rateOfApp(), app, now)
    },
  }
}

/**
 * Only tokens that are there are taken, so a later time is from a clock that was set back: nobody waits for the hours it lost.
 */
function known(bucket: number | undefined, now: number): number | undefined {
  return bucket !== undefined && bucket > now ? undefined : bucket
}

function available(rate: Rate, bucket: number | undefined, now: number): number {
  return tokensIn(rate, known(bucket, now), now)
}

function hasPrecedence(used: Used | undefined, now: number): boolean {
  return available(precedence, used?.precedence, now) >= 1
}

function taken(rate: Rate, bucket: number | undefined, now: number): number {
  return takeToken(rate, known(bucket, now), now).reserved
}

function tooMany(of: string): AppError {
  const details = { reason: githubReasons.paced, retryAfterSeconds }
  return new AppError(
    'too_many_requests',
    `many tokens of ${of} were requested within a minute: the platform asks for the next ones a little later`,
    details,
  )
}
