// How often the Applications of one tenant may change. Each change renders a chart and writes several objects, which the API
// server, its controllers and the nodes share with all tenants: a tenant that changes Applications all day waits for itself. In
// memory: only the leader reconciles.
import type { Application } from '../../api/apps/application.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import type { Facts } from './facts.ts'
import { hasMoved } from './image/followed-tag.ts'

/**
 * Ten Applications of a tenant can change at once; then one a second. Fifty at once, which a tenant may have by default, kept
 * the API server of a small cluster busy for ten seconds, in which every request of other tenants was slow.
 */
const ofTenant = { burst: 10, millisecondsPerToken: 1000 }
const maxApplications = 10_000

export type ChangePace = {
  /** Returns 0 and takes a token, or the milliseconds to wait. `inputs` as `changedInputs` returns them. */
  readonly wait: (application: Application, inputs: string | undefined) => number
}

/**
 * What changes an Application without a new generation: AppSecrets, of which one may belong to fifty Applications, and the tag
 * that it follows. Undefined while they are as they were at its newest release.
 */
export function changedInputs({
  application,
  followed,
  releases,
}: Pick<Facts, 'application' | 'followed' | 'releases'>): string | undefined {
  const { headers, secretVersions } = releases
  const [newest] = headers
  const sameSecrets = newest === undefined || sameJson(newest.spec.secretVersions ?? {}, secretVersions)
  if (sameSecrets && !hasMoved(application, followed)) return undefined
  return canonicalJson([followed?.digest ?? null, secretVersions])
}

// Memory (pace of changes): namespace → token bucket; uid of an Application → its changed inputs that were counted
//   life: the process
//   bound: 10,000 of each, the one used longest ago forgotten first
//   freshness: none is needed: buckets refill by time; other inputs replace those that were counted
//   replicas: leader only; the next begins with full buckets
/** Full budgets. A generation that was observed already costs nothing, so what runs is kept running at any time. */
export function createChangePace(clock: Clock): ChangePace {
  const changes = createKeyedBuckets(ofTenant, clock)
  /** By uid: the changed inputs that were counted, because an Application that is refused stays behind them. */
  const counted = new BoundedMap<string>(maxApplications)
  return {
    wait({ metadata, status }, inputs) {
      const { uid = '', namespace = '', generation } = metadata
      const isObserved = status?.observedGeneration === generation
      if (isObserved && (inputs === undefined || counted.get(uid) === inputs)) return 0
      const wait = changes.take(namespace)
      if (wait === 0 && inputs !== undefined) counted.set(uid, inputs)
      return wait
    },
  }
}
