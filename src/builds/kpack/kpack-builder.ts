// The builder that uses kpack: one Build without an Image for one commit; deleting the Build cancels it. Only this folder knows how kpack behaves.
// Builds live in the tenant's build namespace, where the tenant has no rights.
import { customResourceDefinitions, pods } from '../../api/builtin/index.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Builder, BuildKey, BuildOwner, BuildRequest, StartOutcome } from '../builder.ts'
import {
  type BuilderImage,
  belongsTo,
  type KpackSettings,
  kpackBuildManifest,
  ownerKeyText,
  ownerKeyTexts,
  ownerUidOf,
  ownerUids,
} from './build-manifest.ts'
import { type BuildEvidence, builtImage, failedStep, hasEnded, hasFailed, readBuildState } from './build-state.ts'
import { commitOfImage, type LabelAnswer } from './image-commit.ts'
import { clusterBuilders, type KpackBuild, kpackBuildCrd, kpackBuilds } from './resources.ts'

export type KpackDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'delete' | 'podLogs'>
  /** The builds of `buildScope`. */
  readonly builds: Cache<KpackBuild>
  /** Of the Builds that it creates. */
  readonly fieldManager: string
  readonly settings: KpackSettings
  readonly clock: Clock
  /** Reads the labels of an image that is named by its digest. Never rejects. */
  readonly labelsOf: (image: string) => Promise<LabelAnswer>
}

const ownerIndex = 'owner'
const ownerKeyIndex = 'owner-key'

/** Call before the cache starts: it adds an index. */
export function createKpackBuilder(deps: KpackDeps): Builder {
  const { client, builds, settings, clock, fieldManager, labelsOf } = deps
  builds.addIndex(ownerIndex, ownerUids)
  builds.addIndex(ownerKeyIndex, ownerKeyTexts)

  async function builderImage(): Promise<BuilderImage | string> {
    const builder = await client.get(clusterBuilders, { name: settings.clusterBuilder })
    if (!builder) return `there is no ClusterBuilder ${settings.clusterBuilder}: ask a platform admin to create it`
    const { latestImage: image, stack } = builder.status ?? {}
    if (image === undefined)
      return `ClusterBuilder ${settings.clusterBuilder} is not ready: ask a platform admin to check its conditions`
    return { image, ...(stack?.id === undefined ? {} : { stack: stack.id }) }
  }

  async function existing(key: BuildKey, owner: BuildOwner): Promise<StartOutcome> {
    const build = await client.get(kpackBuilds, key)
    if (build && belongsTo(build, owner) && build.metadata.deletionTimestamp === undefined) return { kind: 'started' }
    const message = `a Build named ${key.name} exists that is being deleted or belongs to another ${owner.kind}`
    return { kind: 'refused', message }
  }

  async function start(request: BuildRequest): Promise<StartOutcome> {
    const image = await builderImage()
    if (typeof image === 'string') return { kind: 'refused', message: image }
    try {
      await client.create(kpackBuilds, kpackBuildManifest(request, image, settings), { fieldManager })
      return { kind: 'started' }
    } catch (error) {
      if (isKubeError(error, 409)) return existing(request.key, request.owner)
      if (!isKubeError(error) || error.retryable) throw error
      return { kind: 'refused', message: `the API server refused the Build: ${error.message}`.slice(0, 500) }
    }
  }

  async function evidenceOf(build: KpackBuild): Promise<BuildEvidence | undefined> {
    const image = builtImage(build)
    if (image !== undefined) return { proof: commitOfImage(await labelsOf(image)) }
    return hasFailed(build) ? failureOf(build) : undefined
  }

  /** The log may be gone with its pod; then kpack's own message is used. */
  async function failureOf(build: KpackBuild): Promise<BuildEvidence> {
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
      return readBuildState(build, await evidenceOf(build), clock.now())
    },
    cancel: key => client.delete(kpackBuilds, key),
    ofOwner: owner =>
      [...builds.byIndex(ownerIndex, owner.uid)]
        .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
        .map(build => ({
          key: { namespace: build.metadata.namespace ?? '', name: build.metadata.name },
          ended: hasEnded(build),
        })),
    ofKey: (kind, key) =>
      builds
        .byIndex(ownerKeyIndex, ownerKeyText(kind, key))
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(build => ({
          key: { namespace: build.metadata.namespace ?? '', name: build.metadata.name },
          ownerUid: ownerUidOf(build, kind),
        })),
    running: () =>
      builds
        .list()
        .filter(build => !hasEnded(build) && build.metadata.deletionTimestamp === undefined)
        .map(build => ({ tenant: build.metadata.namespace ?? '', name: build.metadata.name })),
    known: key => builds.get(key) !== undefined,
  }
}

/** Whether the cluster has kpack. Call before the manager starts: a watch on a kind that does not exist never becomes ready. */
export async function kpackInstalled(client: Pick<KubeClient, 'get'>): Promise<boolean> {
  return (await client.get(customResourceDefinitions, { name: kpackBuildCrd })) !== undefined
}
