// The status of an ApplicationChart from the verdict. Pure. Its revision wakes the Applications that use the chart.
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import type { Verdict } from './decide.ts'

export type ChartStatus = NonNullable<ApplicationChart['status']>

export function nextStatus(chart: ApplicationChart, { revision, ...ready }: Verdict, now: Date): ChartStatus {
  const generation = chart.metadata.generation ?? 1
  return {
    observedGeneration: generation,
    conditions: mergeConditions(chart.status?.conditions, [{ type: 'Ready', ...ready }], generation, now),
    ...(revision === undefined ? {} : { revision }),
  }
}
