// How often the grants of one tenant may make the platform ask GitHub. Each probe mints a token of the App that all tenants share, so a tenant
// that creates and wakes grants all day must not use up what GitHub allows the App. In memory: only the leader probes.
import type { Clock } from '../../lib/clock.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import type { Unreachable } from '../github-unreachable.ts'

/** A whole quota of grants (500) can be checked at once, for a member who left; then one probe in six seconds: 600 an hour. */
const ofTenant = { burst: 500, millisecondsPerToken: 6000 }
/** One grant: five at once, then one a minute. */
const ofGrant = { burst: 5, millisecondsPerToken: 60_000 }

export type ProbeBudget = {
  /** Undefined when a probe may be made now; otherwise when to retry, as if GitHub had asked for the pause. */
  readonly take: (grant: { readonly namespace: string; readonly uid: string }) => Unreachable | undefined
}

/** Full budgets. */
export function createProbeBudget(clock: Clock): ProbeBudget {
  const tenants = createKeyedBuckets(ofTenant, clock)
  const grants = createKeyedBuckets(ofGrant, clock)
  return {
    take({ namespace, uid }) {
      // The grant first: one grant that is woken all the time does not use up its tenant's budget.
      const wait = grants.take(uid) || tenants.take(namespace)
      if (wait === 0) return undefined
      const message = 'the grants of this tenant have caused many checks at GitHub: this one is checked a little later'
      return { kind: 'unreachable', message, retryAfterSeconds: Math.ceil(wait / 1000) }
    },
  }
}
