// Releases of an Application across crashes: each is made once and has its number, its job runs once, and a release that
// crashes gives way to the one before it.
import { application } from '../../../src/api/apps/application.ts'
import { release } from '../../../src/api/apps/release.ts'
import { deployments, jobs, type Pod, pods } from '../../../src/api/builtin/index.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyApplication, applyChart, image } from './application.ts'
import { patience, ready } from './waits.ts'

const releaseJob = { command: ['migrate'], timeoutSeconds: 600 }
const worker = (replicas: number) => ({ name: 'worker', replicas })

/** The pod that runs this image and has not ended, as soon as there is one: of a release job, or of a process. */
function podOf({ fixture, namespace }: Environment, wanted: string, ofJob: boolean): Promise<Pod> {
  return waitUntil(
    `a pod of ${wanted}`,
    async () =>
      (await fixture.kube.list(pods, { namespace })).find(
        ({ metadata, spec, status }) =>
          status?.phase !== 'Succeeded' &&
          (metadata.labels?.['batch.kubernetes.io/job-name'] !== undefined) === ofJob &&
          spec?.containers.some(container => container.image === wanted),
      ),
    patience,
  )
}

/** Acts as the kubelet, which the control plane of the sweep does not have: the job of this image succeeds. */
export async function endJob(environment: Environment, wanted: string): Promise<void> {
  const pod = await podOf(environment, wanted, true)
  const terminated = { exitCode: 0, reason: 'Completed', startedAt: null, finishedAt: null }
  const container = { name: 'release', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated } }
  await environment.setStatus(pods, pod.metadata.name, { phase: 'Succeeded', containerStatuses: [container] })
}

/** Out of memory: the message of this crash does not contain the pod's name, which differs between runs. */
async function crash(environment: Environment, number: number): Promise<void> {
  const pod = await podOf(environment, image(number), false)
  const terminated = { exitCode: 137, reason: 'OOMKilled', startedAt: null, finishedAt: null }
  const state = { waiting: { reason: 'CrashLoopBackOff' } }
  const container = { name: 'worker', image: '', imageID: '', ready: false, restartCount: 3, state, lastState: { terminated } }
  await environment.setStatus(pods, pod.metadata.name, { phase: 'Running', containerStatuses: [container] })
}

export const releaseScenario: Scenario = {
  name: 'application: release job, roll back',
  controllers: ['application'],
  environment: { component: 'controllers', namespace: 'made', github: 'none' },
  prepare: applyChart,
  async act(environment) {
    await applyApplication(environment, { processes: [worker(0)], image: image(1), releaseJob })
    await endJob(environment, image(1))
    await ready(environment, application, 'shop', 'Available')
    await applyApplication(environment, { processes: [worker(0)], image: image(2), releaseJob, releasesKept: 2 })
    await endJob(environment, image(2))
    await ready(environment, application, 'shop', 'Available')
    await applyApplication(environment, { processes: [worker(1)], image: image(3), releasesKept: 2 })
    await crash(environment, 3)
    await ready(environment, application, 'shop', 'RolledBack')
    await waitUntil(
      'only what is needed is kept, with what became of it',
      async () => {
        const { fixture, namespace } = environment
        const left = (await fixture.kube.list(release, { namespace })).filter(({ status }) => status?.conditions !== undefined)
        return left.length === 2 || undefined
      },
      patience,
    )
  },
  compares: [application, release, deployments, jobs],
}
