// A RemoteSync builds one image for several Applications.
import { application } from '../../../src/api/apps/application.ts'
import { remoteSync } from '../../../src/api/apps/remote-sync.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Scenario } from '../scenario.ts'
import { applyApplication, applyRemoteSync, builtImage, endBuilds, push, settle, shared } from './remote-sync.ts'
import { patience, ready } from './waits.ts'

/** Three Applications, of which one is missing at first: whenever the process ends, all run the one image. */
export const remoteSyncSeveral: Scenario = {
  ...shared,
  name: 'remote-sync: one build for several Applications',
  // The rest is as with one Application.
  shortPoints: /^(before|after) kubernetes: patch (applications|remotesyncs\/status) /,
  async prepare(environment) {
    await settle(environment)
    await applyApplication(environment, 'worker')
  },
  async act(environment) {
    const commit = await push(environment, 'one')
    await applyRemoteSync(environment, {}, 'shop', { otherApplications: ['worker', 'late'] })
    const image = builtImage(environment, commit)
    const runsIt = (name: string) =>
      waitUntil(
        `${name} runs the image`,
        async () => {
          await endBuilds(environment, commit, image)
          const found = await environment.fixture.kube.get(application, { namespace: environment.namespace, name })
          return found?.spec.image === image && found.status?.image === image ? true : undefined
        },
        patience,
      )
    await runsIt('shop')
    await runsIt('worker')
    await ready(environment, remoteSync, 'shop', 'ApplicationNotFound')
    await applyApplication(environment, 'late')
    await runsIt('late')
    await ready(environment, remoteSync, 'shop', 'Deployed')
  },
}
