// How often the Applications of one tenant may change. Each change renders a chart and writes several objects, which the API server, its
// controllers and the nodes share with all tenants: a tenant that changes Applications all day waits for itself. In memory: only the leader
// reconciles.
import type { Application } from '../../api/apps/application.ts'
import type { Clock } from '../../lib/clock.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'

/** All Applications that a tenant may have by default can change at once; then one a second. */
const ofTenant = { burst: 50, millisecondsPerToken: 1000 }

export type ChangePace = {
  /**
   * 0 when the Application may be brought to its present generation, or to what its tag means now, which counts; otherwise the milliseconds to wait.
   */
  readonly wait: (application: Application, tagMoved: boolean) => number
}

/** Full budgets. A generation that was observed already costs nothing, so what runs is kept running at any time. */
export function createChangePace(clock: Clock): ChangePace {
  const changes = createKeyedBuckets(ofTenant, clock)
  return {
    wait: ({ metadata, status }, tagMoved) =>
      status?.observedGeneration === metadata.generation && !tagMoved ? 0 : changes.take(metadata.namespace ?? ''),
  }
}
