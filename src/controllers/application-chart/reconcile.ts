// Loads an ApplicationChart once per change and says whether it can be used. Writes only its status and Events.
// Its status wakes the Applications that use it: a chart that changed is rendered anew.
import type { ApplicationChart } from '../../api/application-chart.ts'
import type { ConfigMap } from '../../api/builtin/index.ts'
import { done, type Outcome, type ReconcileContext } from '../../kube/controller.ts'
import type { Cache } from '../../kube/store.ts'
import type { Clock } from '../../lib/clock.ts'
import { findChartSource } from '../application/charts/chart-source.ts'
import type { ChartRenderer } from '../application/charts/renderer.ts'
import type { StatusWriter } from '../status-writer.ts'
import { judgeChart, nextChartStatus } from './decide.ts'

export type ApplicationChartDeps = {
  readonly charts: Cache<ApplicationChart>
  readonly configMaps: Cache<ConfigMap>
  readonly renderer: Pick<ChartRenderer, 'check'>
  readonly status: StatusWriter<ApplicationChart>
  readonly clock: Clock
  readonly platformNamespace: string
}

export async function reconcileApplicationChart(deps: ApplicationChartDeps, context: ReconcileContext): Promise<Outcome> {
  const found = deps.charts.get(context.key)
  if (!found || found.metadata.deletionTimestamp !== undefined) return done
  const chart = deps.status.latest(found)
  const lookup = findChartSource(chart, name => deps.configMaps.get({ namespace: deps.platformNamespace, name }))
  const timeout = chart.spec.timeoutSeconds * 1000
  const loading = lookup.kind === 'found' ? await deps.renderer.check(lookup.source, timeout) : undefined
  const verdict = judgeChart(lookup, loading)
  const status = nextChartStatus(chart, verdict, deps.clock.now())
  await deps.status.write(chart, status)
  return done
}
