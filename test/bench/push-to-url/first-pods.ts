// When a build ended and when the first new pod of its Application was there, both by watches of this process and so by one
// clock: creation times have whole seconds. What is measured begins with the result of the build's pod, or of kpack, and ends
// with the ReplicaSet controller's pod, whoever works in between.
import { type Pod, pods } from '../../../src/api/builtin/index.ts'
import { jobNameLabel, labels } from '../../../src/api/names.ts'
import { buildpacksScope } from '../../../src/services/builds/buildpacks/buildpacks-builder.ts'
import { sourceOf } from '../../../src/services/builds/buildpacks/pod-manifest.ts'
import { type KpackBuild, kpackBuilds } from '../../../src/services/builds/kpack/resources.ts'
import { openKube } from '../../fixtures/open-kube.ts'
import { createFollower } from '../harness/follow.ts'

export type FirstPods = {
  /**
   * Milliseconds from the end of the build of this commit to the first pod that was created after it; undefined when one of
   * them was not seen.
   */
  readonly after: (commit: string) => number | undefined
  readonly close: () => Promise<void>
}

export type WatchedApplication = {
  /** Of an administrator. */
  readonly kubeconfig: string
  readonly namespace: string
  readonly buildNamespace: string
  readonly name: string
}

type Seen = { readonly ended: Map<string, number>; readonly pods: number[] }

function hasSucceeded({ status }: KpackBuild): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Succeeded' && value === 'True') ?? false
}

/** Watches from now on. Rejects when the cluster does not answer; a watch that ends is resumed where it ended. */
export async function watchFirstPods({ kubeconfig, namespace, buildNamespace, name }: WatchedApplication): Promise<FirstPods> {
  const client = await openKube(kubeconfig)
  const follower = createFollower(client)
  const seen: Seen = { ended: new Map(), pods: [] }
  const ended = (commit: string | undefined): void => {
    if (commit !== undefined && !seen.ended.has(commit)) seen.ended.set(commit, performance.now())
  }
  const builds = follower.follow(kpackBuilds, { namespace: buildNamespace }, ({ object }) => {
    if (hasSucceeded(object)) ended(object.spec.source.git?.revision)
  })
  const inPods = follower.follow(
    pods,
    { namespace: buildNamespace, ...buildpacksScope },
    ({ object }: { readonly object: Pod }) => {
      if (object.status?.phase === 'Succeeded') ended(sourceOf(object).commit)
    },
  )
  // A release job is not what serves.
  const labelSelector = `${labels.application}=${name},!${jobNameLabel}`
  const created = follower.follow(pods, { namespace, labelSelector }, ({ type }) => {
    if (type === 'ADDED') seen.pods.push(performance.now())
  })
  await Promise.all([builds, inPods, created])
  return {
    after(commit) {
      follower.check()
      const ended = seen.ended.get(commit)
      const pod = ended === undefined ? undefined : seen.pods.find(time => time > ended)
      return ended === undefined || pod === undefined ? undefined : pod - ended
    },
    async close() {
      await follower.end()
      await client.close()
    },
  }
}
