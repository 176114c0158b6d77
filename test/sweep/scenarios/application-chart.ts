// A chart from a ConfigMap: the ConfigMap is created after the chart, breaks, and is fixed.
import { applicationChart } from '../../../src/api/apps/application-chart.ts'
import { configMaps } from '../../../src/api/builtin/index.ts'
import { platformNamespace } from '../../../src/api/names.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { chartOf } from './application.ts'
import { ready } from './waits.ts'

function write(environment: Environment, code: string): Promise<void> {
  return environment.apply(configMaps, chartOf(environment), { data: { 'chart.js': code } }, platformNamespace)
}

export const applicationChartScenario: Scenario = {
  name: 'application-chart: missing, loaded, broken, fixed',
  shortPoints: 'all',
  controllers: ['application-chart'],
  environment: { component: 'controllers', namespace: 'made', github: 'none' },
  async act(environment) {
    const name = chartOf(environment)
    await environment.apply(applicationChart, name, { spec: { configMap: { name }, timeoutSeconds: 20 } })
    await ready(environment, applicationChart, name, 'ConfigMapMissing')
    await write(environment, 'export function chart() { return [] }')
    await ready(environment, applicationChart, name, 'Loaded')
    await write(environment, 'export const nothing = 1')
    await ready(environment, applicationChart, name, 'ChartDoesNotLoad')
    await write(environment, 'export function chart() { return [{}] }')
    await ready(environment, applicationChart, name, 'Loaded')
  },
  compares: [applicationChart],
}
