// An Application is created, gets another image, loses a process (whose objects are pruned) and is deleted.
import { application } from '../../../src/api/apps/application.ts'
import { applicationChart } from '../../../src/api/apps/application-chart.ts'
import { deployments, ingresses, services } from '../../../src/api/builtin/index.ts'
import { chartName, type Environment, fieldManager } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { gone, ready } from './waits.ts'

export const image = (n: number): string => `registry.example.com/acme/shop@sha256:${String(n).repeat(64)}`

export const chartOf = (environment: Environment): string => chartName(environment.prefix)

/** Charts are cluster-scoped: each environment has its own. */
export async function applyChart(environment: Environment): Promise<void> {
  await environment.apply(applicationChart, chartOf(environment), { spec: { builtIn: 'web', timeoutSeconds: 20 } })
  await ready(environment, applicationChart, chartOf(environment), 'Loaded')
}

// Zero replicas: the control plane of the sweep runs no pods, and the Deployment controller still completes the rollout.
const web = { name: 'web', port: 3000, replicas: 0 }
const worker = { name: 'worker', replicas: 0 }

export function applyApplication(environment: Environment, spec: object): Promise<void> {
  return environment.apply(application, 'shop', { spec: { chart: chartOf(environment), ...spec } })
}

const environment = { component: 'controllers', namespace: 'made', github: 'none' } as const
const compares = [application, deployments, services, ingresses]

export const applicationScenario: Scenario = {
  name: 'application: create, change, prune',
  controllers: ['application'],
  environment,
  prepare: applyChart,
  async act(environment) {
    await applyApplication(environment, { processes: [web, worker], image: image(1) })
    await ready(environment, application, 'shop', 'Available')
    await applyApplication(environment, { processes: [web, worker], image: image(2) })
    await ready(environment, application, 'shop', 'Available')
    await applyApplication(environment, { processes: [worker], image: image(2) })
    await ready(environment, application, 'shop', 'Available')
    await gone(environment, services, 'shop')
  },
  compares,
}

// The garbage collector deletes the children; writes of the controller just before must not keep or recreate any of them.
export const applicationDeletion: Scenario = {
  name: 'application: delete',
  controllers: ['application'],
  environment,
  async prepare(environment) {
    await applyChart(environment)
    await applyApplication(environment, { processes: [web], image: image(1) })
    await ready(environment, application, 'shop', 'Available')
  },
  async act(environment) {
    await environment.fixture.kube.mergePatch(
      application,
      { namespace: environment.namespace, name: 'shop' },
      { spec: { image: image(2) } },
      { fieldManager },
    )
    await ready(environment, application, 'shop', 'Available')
    await environment.fixture.kube.delete(application, { namespace: environment.namespace, name: 'shop' })
    await gone(environment, application, 'shop')
    for (const type of [deployments, services, ingresses])
      await gone(environment, type, type === deployments ? 'shop-web' : 'shop')
  },
  compares,
}
