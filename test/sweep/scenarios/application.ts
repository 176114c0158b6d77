// An Application is created, gets another image, loses a process (what it had is pruned) and is deleted.
import { application } from '../../../src/api/apps/application.ts'
import { applicationChart } from '../../../src/api/apps/application-chart.ts'
import { deployments, ingresses, services } from '../../../src/api/builtin/index.ts'
import { chartName, fieldManager, type World } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { gone, ready } from './waits.ts'

export const image = (n: number): string => `registry.example.com/acme/shop@sha256:${String(n).repeat(64)}`

export const chartOf = (world: World): string => chartName(world.prefix)

/** Charts are cluster-wide: each world has its own. */
export async function applyChart(world: World): Promise<void> {
  await world.apply(applicationChart, chartOf(world), { spec: { builtIn: 'web', timeoutSeconds: 20 } })
  await ready(world, applicationChart, chartOf(world), 'Loaded')
}

// Without replicas: the control plane of the sweep runs no pods, and the rollout is the Deployment controller's all the same.
const web = { name: 'web', port: 3000, replicas: 0 }
const worker = { name: 'worker', replicas: 0 }

function applyApplication(world: World, spec: object): Promise<void> {
  return world.apply(application, 'shop', { spec: { chart: chartOf(world), ...spec } })
}

const world = { part: 'controllers', namespace: 'made', github: 'none' } as const
const sees = [application, deployments, services, ingresses]

export const applicationScenario: Scenario = {
  name: 'application: create, change, prune',
  controllers: ['application'],
  world,
  prepare: applyChart,
  async act(world) {
    await applyApplication(world, { processes: [web, worker], image: image(1) })
    await ready(world, application, 'shop', 'Available')
    await applyApplication(world, { processes: [web, worker], image: image(2) })
    await ready(world, application, 'shop', 'Available')
    await applyApplication(world, { processes: [worker], image: image(2) })
    await ready(world, application, 'shop', 'Available')
    await gone(world, services, 'shop')
  },
  sees,
}

// Deleting is the garbage collector's work; what the controller still writes just before must not keep or bring back anything.
export const applicationDeletion: Scenario = {
  name: 'application: delete',
  controllers: ['application'],
  world,
  async prepare(world) {
    await applyChart(world)
    await applyApplication(world, { processes: [web], image: image(1) })
    await ready(world, application, 'shop', 'Available')
  },
  async act(world) {
    await world.site.kube.mergePatch(
      application,
      { namespace: world.namespace, name: 'shop' },
      { spec: { image: image(2) } },
      { fieldManager },
    )
    await ready(world, application, 'shop', 'Available')
    await world.site.kube.delete(application, { namespace: world.namespace, name: 'shop' })
    await gone(world, application, 'shop')
    for (const type of [deployments, services, ingresses]) await gone(world, type, type === deployments ? 'shop-web' : 'shop')
  },
  sees,
}
