// Whether an ApplicationChart can be used: found where it says, and it loads. Pure; the loading itself is asked for by reconcile.ts.
import { type ApplicationChart, applicationChartReasons } from '../../api/application-chart.ts'
import { mergeConditions } from '../../kube/conditions.ts'
import type { ChartOutcome } from '../application/charts/chart-input.ts'
import type { ChartLookup } from '../application/charts/chart-source.ts'

export type ChartVerdict = { readonly reason: string; readonly message: string; readonly revision?: string }

/** `loading` is the outcome of loading what `lookup` found. */
export function judgeChart(lookup: ChartLookup, loading: ChartOutcome | undefined): ChartVerdict {
  if (lookup.kind === 'missing') return { reason: lookup.reason, message: lookup.message }
  const { revision } = lookup.source
  if (loading?.kind === 'rendered') return { reason: applicationChartReasons.loaded, message: 'the chart loads', revision }
  const why = loading?.message ?? 'it was not loaded'
  return { reason: applicationChartReasons.doesNotLoad, message: `the chart does not load: ${why}`, revision }
}

export type ChartStatus = NonNullable<ApplicationChart['status']>

export function nextChartStatus(chart: ApplicationChart, verdict: ChartVerdict, now: Date): ChartStatus {
  const generation = chart.metadata.generation ?? 1
  const { reason, message, revision } = verdict
  const status = reason === applicationChartReasons.loaded ? 'True' : 'False'
  return {
    observedGeneration: generation,
    conditions: mergeConditions(chart.status?.conditions, [{ type: 'Ready', status, reason, message }], generation, now),
    ...(revision === undefined ? {} : { revision }),
  }
}
