// When an owner is checked although nothing has happened: GitHub sends no webhook when an owner becomes an ordinary member.
// Each check costs a token of the App's hourly limit, from which tenants' tokens come too: with many Installations checks are
// less frequent, spread evenly, and at most so many an hour.
import type { Installation } from '../../api/github/installation.ts'
import type { Clock } from '../../lib/clock.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import { spreadOf } from '../../lib/limits/spread.ts'
import { evenlyPerHour } from '../../lib/limits/token-bucket.ts'

/** Of the 5,000 requests an hour that an App has. */
export const ownerChecksPerHour = 300
const hour = 3_600_000

export type OwnerCheckSchedule = {
  /** Whether to check now. True uses up one check of the App's share when the check `needsToken`. */
  readonly isDue: (object: Installation, checkedAt: Date, needsToken: boolean) => boolean
}

export type OwnerCheckScheduleDeps = {
  readonly clock: Clock
  /** The time between two checks of one owner; it grows with the number of Installations of the App. */
  readonly everyMilliseconds: number
  /** How many Installations an App has, by the name of its ClusterGitHubApp. */
  readonly countOf: (appName: string) => number
}

// Memory (hourly share of owner checks): App → token bucket of 300 checks an hour
//   life: the process
//   bound: 10,000 Apps
//   freshness: none is needed: buckets refill by time
//   replicas: leader only; the next begins with a full one
/** A new process begins with a small burst of its share. */
export function createOwnerCheckSchedule(deps: OwnerCheckScheduleDeps): OwnerCheckSchedule {
  const { clock, everyMilliseconds, countOf } = deps
  const budget = createKeyedBuckets(evenlyPerHour(ownerChecksPerHour), clock)
  return {
    isDue(object, checkedAt, needsToken) {
      const { app } = object.spec
      const interval = needsToken ? Math.max(everyMilliseconds, (countOf(app) * hour) / ownerChecksPerHour) : everyMilliseconds
      if (clock.now().getTime() - checkedAt.getTime() < interval * spreadOf(object.metadata.uid ?? '')) return false
      return !needsToken || budget.take(app) === 0
    },
  }
}
