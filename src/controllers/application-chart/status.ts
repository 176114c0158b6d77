// The status of an ApplicationChart from the decision. Pure. A changed revision wakes the Applications that use the chart.
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Decision } from './decide.ts'

/** Equal to the status before when nothing changed, whatever `now` is. */
export function nextStatus(
  chart: ApplicationChart,
  { ready, revision }: Decision,
  now: Date,
): NonNullable<ApplicationChart['status']> {
  const generation = chart.metadata.generation ?? 1
  return {
    observedGeneration: generation,
    conditions: mergeConditions(chart.status?.conditions, [ready], generation, now),
    ...defined({ revision }),
  }
}
