// Wires the ApplicationChart controller: a changed ConfigMap of the platform namespace wakes the charts that name it. Decides
// nothing.
import { applicationChart } from '../../api/apps/application-chart.ts'
import { configMaps } from '../../api/builtin/index.ts'
import { keyOf } from '../../api/resource.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { type ApplicationChartDeps, reconcileApplicationChart } from './reconcile.ts'

export type ApplicationChartControllerDeps = Omit<ApplicationChartDeps, 'charts' | 'configMaps' | 'status'> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
}

const configMapIndex = 'configMap'

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createApplicationChartController(deps: ApplicationChartControllerDeps): ControllerDefinition {
  const scope = { namespace: deps.platformNamespace }
  const charts = deps.manager.cache(applicationChart)
  charts.addIndex(configMapIndex, chart => (chart.spec.configMap ? [chart.spec.configMap.name] : []))
  const { client } = deps.manager
  const fieldManager = 'sekisho.dev/application-chart'
  const status = createStatusWriter({ type: applicationChart, fieldManager, client, cache: charts, events: deps.events })
  const all = { ...deps, status, charts, configMaps: deps.manager.cache(configMaps, scope) }
  return {
    name: 'application-chart',
    for: applicationChart,
    watches: [watches(configMaps, configMap => charts.byIndex(configMapIndex, configMap.metadata.name).map(keyOf), scope)],
    concurrency: 1,
    reconcile: context => reconcileApplicationChart(all, context),
  }
}
