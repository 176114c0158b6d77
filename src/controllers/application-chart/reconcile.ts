// Loads an ApplicationChart once per change and says whether it can be used. Writes only its status and Events.
// Its status wakes the Applications that use it: a chart that changed is rendered anew.
import { type ApplicationChart, applicationChart } from '../../api/application-chart.ts'
import type { ConfigMap } from '../../kube/builtin.ts'
import type { KubeClient } from '../../kube/client.ts'
import { findCondition, sameStatus } from '../../kube/conditions.ts'
import { done, type Outcome, type ReconcileContext } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/events.ts'
import type { Cache } from '../../kube/store.ts'
import type { Clock } from '../../lib/clock.ts'
import { findChartSource } from '../application/charts/chart-source.ts'
import type { ChartRenderer } from '../application/charts/renderer.ts'
import { judgeChart, nextChartStatus } from './decide.ts'

export type ApplicationChartDeps = {
  readonly client: Pick<KubeClient, 'applyStatus'>
  readonly charts: Cache<ApplicationChart>
  readonly configMaps: Cache<ConfigMap>
  readonly renderer: Pick<ChartRenderer, 'check'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
  readonly platformNamespace: string
}

const fieldManager = 'sekisho.dev/application-chart'

export async function reconcileApplicationChart(deps: ApplicationChartDeps, context: ReconcileContext): Promise<Outcome> {
  const chart = deps.charts.get(context.key)
  if (!chart || chart.metadata.deletionTimestamp !== undefined) return done
  const lookup = findChartSource(chart, name => deps.configMaps.get({ namespace: deps.platformNamespace, name }))
  const timeout = chart.spec.timeoutSeconds * 1000
  const loading = lookup.kind === 'found' ? await deps.renderer.check(lookup.source, timeout) : undefined
  const verdict = judgeChart(lookup, loading)
  const status = nextChartStatus(chart, verdict, deps.clock.now())
  if (sameStatus(chart.status, status)) return done
  const { name, uid } = chart.metadata
  const metadata = { name, ...(uid === undefined ? {} : { uid }) }
  const { apiVersion, kind } = applicationChart
  await deps.client.applyStatus(applicationChart, { apiVersion, kind, metadata, status }, { fieldManager, force: true })
  const before = findCondition(chart.status?.conditions, 'Ready')
  const after = findCondition(status.conditions, 'Ready')
  if (after && before?.reason !== after.reason)
    deps.events.record(chart, {
      type: after.status === 'True' ? 'Normal' : 'Warning',
      reason: after.reason,
      message: after.message,
    })
  return done
}
