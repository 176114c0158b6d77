// How often the grants of one tenant may make the platform ask GitHub. Each probe mints a token of the App that all tenants
// share, so a tenant that creates and wakes grants all day must not use up what GitHub allows the App. In memory: only the
// leader probes.
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import { takeToken } from '../../lib/limits/token-bucket.ts'
import type { Unreachable } from '../kit/github-unreachable.ts'

/** A whole quota of grants (500) can be checked at once, for a member who left; then one probe in six seconds: 600 an hour. */
const ofTenant = { burst: 500, millisecondsPerToken: 6000 }
/** One grant: five at once, then one a minute. */
const ofGrant = { burst: 5, millisecondsPerToken: 60_000 }
/** Beyond it nobody gets a turn, so that what a tenant creates and deletes holds up its later grants for no longer. */
const maxWait = 3_600_000
/** Of tenants, and of grants that wait for their turn. A grant beyond them gets a new turn. */
const maxKeys = 10_000

type GrantName = { readonly namespace: string; readonly uid: string }

export type ProbeBudget = {
  /**
   * Undefined when a probe may be made now; otherwise when to retry, as if GitHub had asked for the pause. A grant that has to
   * wait because of its tenant has its turn then: those that came later do not overtake it.
   */
  readonly take: (grant: GrantName) => Unreachable | undefined
  /** Gives back the turn of a grant that ends. */
  readonly release: (grant: GrantName) => void
}

function later(milliseconds: number): Unreachable {
  const message = 'the grants of this tenant have caused many checks at GitHub: this one is checked a little later'
  return { kind: 'unreachable', message, retryAfterSeconds: Math.ceil(milliseconds / 1000), isPaced: true }
}

// Memory (probe budget): grant, and its namespace → token bucket; grant that waits → its turn
//   life: the process
//   bound: 10,000 keys of each
//   freshness: the turn; the end of the grant
//   replicas: leader only; the next begins with full buckets
/** Full budgets. */
export function createProbeBudget(clock: Clock): ProbeBudget {
  const grants = createKeyedBuckets(ofGrant, clock)
  /** By namespace: the time up to which turns are given. */
  const reserved = new BoundedMap<number>(maxKeys)
  /** By uid: the time of the turn. */
  const turns = new BoundedMap<number>(maxKeys)

  function takeTurn({ namespace, uid }: GrantName, now: number): Unreachable | undefined {
    const next = takeToken(ofTenant, reserved.get(namespace), now)
    if (next.wait > maxWait) return later(maxWait)
    reserved.set(namespace, next.reserved)
    if (next.wait === 0) return undefined
    turns.set(uid, now + next.wait)
    return later(next.wait)
  }

  return {
    take(grant) {
      const now = elapsed(clock)
      const turn = turns.get(grant.uid)
      if (turn !== undefined && turn > now) return later(turn - now)
      if (turns.delete(grant.uid)) return undefined
      // The grant first: one grant that is woken all the time does not use up its tenant's budget.
      const wait = grants.take(grant.uid)
      return wait > 0 ? later(wait) : takeTurn(grant, now)
    },
    release({ namespace, uid }) {
      const until = reserved.get(namespace)
      if (turns.delete(uid) && until !== undefined) reserved.set(namespace, until - ofTenant.millisecondsPerToken)
    },
  }
}
