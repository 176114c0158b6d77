// The builder that uses kpack: one bare Build for one commit; deleting it cancels it. The only file that knows kpack's behaviour.
// Builds live in the tenant's build namespace, where the tenant has no rights.

import { pods } from '../../api/builtin/index.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Builder, BuildKey, BuildOwner, BuildRequest, StartOutcome } from '../builder.ts'
import { type BuilderImage, type KpackSettings, kpackBuildManifest, ownerUidLabel } from './build-manifest.ts'
import { type BuildEvidence, belongsTo, failedStep, hasEnded, hasFailed, judgeBuild } from './build-state.ts'
import { clusterBuilders, type KpackBuild, kpackBuilds } from './resources.ts'

export type KpackDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'delete' | 'podLogs'>
  /** Builds with `ownerUidLabel`. */
  readonly builds: Cache<KpackBuild>
  readonly settings: KpackSettings
  readonly clock: Clock
}

const fieldManager = 'sekisho.dev/remote-sync'
const ownerIndex = 'owner'

export function createKpackBuilder(deps: KpackDeps): Builder {
  const { client, builds, settings, clock } = deps
  builds.addIndex(ownerIndex, build => [build.metadata.labels?.[ownerUidLabel] ?? ''])

  async function builderImage(): Promise<BuilderImage | string> {
    const builder = await client.get(clusterBuilders, { name: settings.clusterBuilder })
    if (!builder) return `there is no ClusterBuilder ${settings.clusterBuilder}: ask a platform admin to create it`
    const { latestImage: image, stack } = builder.status ?? {}
    if (image === undefined)
      return `ClusterBuilder ${settings.clusterBuilder} is not ready: ask a platform admin to look at its conditions`
    return { image, ...(stack?.id === undefined ? {} : { stack: stack.id }) }
  }

  async function alreadyThere(key: BuildKey, owner: BuildOwner): Promise<StartOutcome> {
    const there = await client.get(kpackBuilds, key)
    if (there && belongsTo(there, owner) && there.metadata.deletionTimestamp === undefined) return { kind: 'started' }
    return { kind: 'refused', message: `a Build named ${key.name} that is not ours, or is being deleted, is in the way` }
  }

  async function start(request: BuildRequest): Promise<StartOutcome> {
    const image = await builderImage()
    if (typeof image === 'string') return { kind: 'refused', message: image }
    try {
      await client.create(kpackBuilds, kpackBuildManifest(request, image, settings), { fieldManager })
      return { kind: 'started' }
    } catch (error) {
      if (isKubeError(error, 409)) return alreadyThere(request.key, request.owner)
      if (!isKubeError(error) || error.retryable) throw error
      return { kind: 'refused', message: `the cluster refuses the build: ${error.message}`.slice(0, 500) }
    }
  }

  /** The log may be gone with its pod: then kpack's own message has to do. */
  async function evidenceOf(build: KpackBuild): Promise<BuildEvidence> {
    const { podName } = build.status ?? {}
    const { namespace = '' } = build.metadata
    if (podName === undefined) return { pod: undefined, log: '' }
    const key = { namespace, name: podName }
    const pod = await client.get(pods, key)
    if (!pod) return { pod: undefined, log: '' }
    const container = failedStep(build, pod)
    const log = await client.podLogs(key, { container, tailLines: 20, limitBytes: 8192 }).catch((error: unknown) => {
      if (isKubeError(error) && !error.retryable) return `the log of step ${container} cannot be read: ${messageOf(error)}`
      throw error
    })
    return { pod, log }
  }

  return {
    start,
    async observe(key, owner) {
      const build = builds.get(key) ?? (await client.get(kpackBuilds, key))
      if (!build || !belongsTo(build, owner) || build.metadata.deletionTimestamp !== undefined) return { kind: 'absent' }
      return judgeBuild(build, hasFailed(build) ? await evidenceOf(build) : undefined, clock.now())
    },
    cancel: key => client.delete(kpackBuilds, key),
    ofOwner: owner =>
      [...builds.byIndex(ownerIndex, owner.uid)]
        .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
        .map(build => ({
          key: { namespace: build.metadata.namespace ?? '', name: build.metadata.name },
          ended: hasEnded(build),
        })),
    running: () =>
      builds
        .list()
        .filter(build => !hasEnded(build) && build.metadata.deletionTimestamp === undefined)
        .map(build => ({ tenant: build.metadata.namespace ?? '', name: build.metadata.name })),
    known: key => builds.get(key) !== undefined,
  }
}
