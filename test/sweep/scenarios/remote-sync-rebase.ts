// A RemoteSync whose image gets the newer run image of its builder. The scenario acts as kpack: it ends the build, and then the
// rebase.
import { application } from '../../../src/api/apps/application.ts'
import { remoteSync } from '../../../src/api/apps/remote-sync.ts'
import { findCondition } from '../../../src/kube/object/conditions.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { isRebase, kpackBuilds } from '../../../src/services/builds/kpack/resources.ts'
import type { Scenario } from '../scenario.ts'
import { chartOf } from './application.ts'
import { applyRemoteSync, buildsOf, presentRunImage, push, settle, shared } from './remote-sync.ts'
import { patience } from './waits.ts'

const formerRunImage = `sha256:${'a'.repeat(64)}`

/** The image was built on a run image that its builder has replaced meanwhile. */
export const remoteSyncRebase: Scenario = {
  ...shared,
  name: 'remote-sync: rebase on a newer run image',
  // The first build has scenarios of its own.
  shortPoints: /^after kubernetes: (create builds|patch (applications|remotesyncs\/status)) shop/,
  async prepare(environment) {
    await settle(environment)
    // The clock of a restarted process is ahead: a rollout that it goes on with would be late.
    await environment.apply(application, 'shop', {
      spec: {
        chart: chartOf(environment),
        processes: [{ name: 'web', port: 3000, replicas: 0 }],
        rollout: { timeoutSeconds: 3600 },
      },
    })
  },
  async act(environment) {
    const { registry, kube } = environment.fixture
    const repository = `apps/${environment.namespace}/shop`
    const commit = await push(environment, 'one')
    const image = registry.publish(repository, commit)
    const rebased = registry.publish(repository, commit, undefined, presentRunImage)
    const endOf = (latestImage: string, runImage = '') => ({
      latestImage,
      stack: { id: 'base', runImage: `registry.example.com/run@${runImage}` },
      conditions: [{ type: 'Succeeded', status: 'True' }],
    })
    await applyRemoteSync(environment)
    await waitUntil(
      'the rebased image runs',
      async () => {
        for (const build of await buildsOf(environment, commit)) {
          const end = isRebase(build) ? endOf(rebased, presentRunImage) : endOf(image, formerRunImage)
          const { name, namespace } = build.metadata
          if (build.status === undefined) await environment.setStatus(kpackBuilds, name, end, namespace)
        }
        const found = await kube.get(remoteSync, { namespace: environment.namespace, name: 'shop' })
        const { status } = found ?? {}
        const condition = findCondition(status?.conditions, 'Ready')
        if (status?.image === rebased && condition?.reason === 'Deployed') return true
        throw new Error(`${condition?.reason}: ${condition?.message} ${JSON.stringify(status?.rebase)}`)
      },
      patience,
    )
  },
}
