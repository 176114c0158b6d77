// What must be known about an ApplicationChart: where its code is, and whether that loads. Loading happens in the renderer's worker.
// Never writes, never throws on absence.
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
import type { ConfigMap } from '../../api/builtin/index.ts'
import type { ChartOutcome } from '../../charts/chart-input.ts'
import { type ChartLookup, findChartSource } from '../../charts/chart-source.ts'
import type { ChartRenderer } from '../../charts/renderer.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'

export type GatherDeps = {
  /** Those of the platform namespace. */
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

export async function gather(deps: GatherDeps, chart: ApplicationChart): Promise<Facts> {
  const lookup = findChartSource(chart, name => deps.configMaps.get({ namespace: deps.platformNamespace, name }))
  const timeoutMilliseconds = chart.spec.timeoutSeconds * 1000
  const loading = lookup.kind === 'found' ? await deps.renderer.check(lookup.source, timeoutMilliseconds) : undefined
  return { chart, lookup, loading }
}
