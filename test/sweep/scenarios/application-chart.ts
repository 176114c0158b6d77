// A chart from a ConfigMap: the ConfigMap comes after it, breaks, and is mended.

import { applicationChart } from '../../../src/api/apps/application-chart.ts'
import { configMaps } from '../../../src/api/builtin/index.ts'
import { platformNamespace } from '../../../src/api/names.ts'
import type { World } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { chartOf } from './application.ts'
import { ready } from './waits.ts'

function write(world: World, code: string): Promise<void> {
  return world.apply(configMaps, chartOf(world), { data: { 'chart.js': code } }, platformNamespace)
}

export const applicationChartScenario: Scenario = {
  name: 'application-chart: missing, loaded, broken, mended',
  controllers: ['application-chart'],
  world: { part: 'controllers', namespace: 'made', github: 'none' },
  async act(world) {
    const name = chartOf(world)
    await world.apply(applicationChart, name, { spec: { configMap: { name }, timeoutSeconds: 20 } })
    await ready(world, applicationChart, name, 'ConfigMapMissing')
    await write(world, 'export function chart() { return [] }')
    await ready(world, applicationChart, name, 'Loaded')
    await write(world, 'export const nothing = 1')
    await ready(world, applicationChart, name, 'ChartDoesNotLoad')
    await write(world, 'export function chart() { return [{}] }')
    await ready(world, applicationChart, name, 'Loaded')
  },
  sees: [applicationChart],
}
