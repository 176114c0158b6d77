// What must be known about an ApplicationChart: where its code is, and whether the code loads, which is tried in the renderer's
// worker thread. Never writes, never throws on absence.
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
import type { ConfigMap } from '../../api/builtin/index.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { ChartOutcome } from '../../services/charts/chart-input.ts'
import { type ChartLookup, findChartSource } from '../../services/charts/chart-source.ts'
import type { ChartRenderer } from '../../services/charts/renderer.ts'

export type GatherDeps = {
  /** Of the platform namespace. */
  readonly configMaps: Pick<Cache<ConfigMap>, 'get'>
  readonly renderer: Pick<ChartRenderer, 'check'>
  readonly platformNamespace: string
}

export type Facts = {
  readonly chart: ApplicationChart
  readonly lookup: ChartLookup
  /** Undefined when there is no code to load. */
  readonly loading: ChartOutcome | undefined
}

/** Rejects with `unavailable` when the renderer has stopped. */
export async function gather(deps: GatherDeps, chart: ApplicationChart): Promise<Facts> {
  const lookup = findChartSource(chart, name => deps.configMaps.get({ namespace: deps.platformNamespace, name }))
  const timeoutMilliseconds = chart.spec.timeoutSeconds * 1000
  const loading = lookup.kind === 'found' ? await deps.renderer.check(lookup.source, timeoutMilliseconds) : undefined
  return { chart, lookup, loading }
}
