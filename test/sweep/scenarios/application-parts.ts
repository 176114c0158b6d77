// An Application with volumes, a schedule and an autoscaler is created, changed, suspended, resumed, and loses them again.
import { application } from '../../../src/api/apps/application.ts'
import {
  cronJobs,
  deployments,
  horizontalPodAutoscalers,
  ingresses,
  persistentVolumeClaims,
  services,
} from '../../../src/api/builtin/index.ts'
import type { Scenario } from '../scenario.ts'
import { applyApplication, applyChart, image } from './application.ts'
import { gone, ready } from './waits.ts'

const volume = { size: '1Gi', path: '/data', processes: ['files'] }
const cron = { name: 'nightly', schedule: '0 3 * * *', command: ['clean'] }
const files = { name: 'files', port: 9000, replicas: 0 }
const parts = {
  processes: [files],
  cron: [cron],
  volumes: [
    { ...volume, name: 'kept' },
    { ...volume, name: 'deleted', path: '/more', whenDeleted: 'Delete' },
  ],
  image: image(1),
}
// Suspended, so that no pod is wanted: the control plane of the sweep runs none, and an autoscaler needs at least one.
const autoscaled = { name: 'web', port: 3000, autoscaling: { minReplicas: 2, maxReplicas: 3 } }

export const applicationPartsScenario: Scenario = {
  name: 'application: volumes, schedules, autoscaler, suspend',
  controllers: ['application'],
  environment: { component: 'controllers', namespace: 'made', github: 'none' },
  prepare: applyChart,
  async act(environment) {
    await applyApplication(environment, parts)
    await ready(environment, application, 'shop', 'Available')
    await applyApplication(environment, { ...parts, processes: [files, autoscaled] })
    await ready(environment, application, 'shop', 'RollingOut')
    await applyApplication(environment, { ...parts, processes: [files, autoscaled], suspend: true })
    await ready(environment, application, 'shop', 'Suspended')
    await gone(environment, horizontalPodAutoscalers, 'shop-web')
    await applyApplication(environment, { processes: [{ ...files, replicas: 0 }], image: image(1), suspend: false })
    await ready(environment, application, 'shop', 'Available')
    await gone(environment, persistentVolumeClaims, 'shop-deleted')
    await gone(environment, cronJobs, 'shop-nightly')
  },
  compares: [application, deployments, services, ingresses, cronJobs, horizontalPodAutoscalers, persistentVolumeClaims],
}
