// The builder that uses kpack: one Build without an Image for one commit; deleting the Build cancels it. Only this folder knows how kpack behaves.
// Builds live in the tenant's build namespace, where the tenant has no rights.
import { remoteSync } from '../../../api/apps/remote-sync.ts'
import { customResourceDefinitions, pods } from '../../../api/builtin/index.ts'
import { parseKey } from '../../../api/resource.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isKubeError, lacksRight } from '../../../kube/client/errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { BuildSecrets } from '../build-secrets.ts'
import type { Builder, BuildKey, BuildOwner, BuildRequest, StartOutcome } from '../builder.ts'
import {
  type BuilderImage,
  belongsTo,
  type KpackSettings,
  kpackBuildManifest,
  loggedBuild,
  ownerAnnotation,
  ownerKeyText,
  ownerKeyTexts,
  ownerUidOf,
  ownerUids,
  pushesOf,
  secretsAnnotation,
} from './build-manifest.ts'
import { type BuildEvidence, builtImage, failedStep, hasEnded, hasFailed, readBuildState } from './build-state.ts'
import { commitOfImage, type LabelAnswer } from './image-commit.ts'
import { clusterBuilders, isRebase, type KpackBuild, kpackBuildCrd, kpackBuilds, stepsOf } from './resources.ts'

export type KpackDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'delete' | 'podLogs'>
  /** The builds of `buildScope`. */
  readonly builds: Cache<KpackBuild>
  /** Of the Builds that it creates. */
  readonly fieldManager: string
  readonly settings: KpackSettings
  readonly secrets: Pick<BuildSecrets, 'provide'>
  readonly clock: Clock
  /** Reads the labels of an image that is named by its digest. Never rejects. */
  readonly labelsOf: (image: string) => Promise<LabelAnswer>
}

/** npm prints its whole usage after the cause. The limit of bytes counts from the first of these lines: it must not cut their end. */
const logLines = 400
const logBytes = 1_048_576

const ownerIndex = 'owner'
const ownerKeyIndex = 'owner-key'

type OfClient = { readonly client: Pick<KubeClient, 'get'> }

/** The image of a builder, or why there is none. Without a name: that of the platform. */
export async function builderImage(
  { client, settings }: OfClient & Pick<KpackDeps, 'settings'>,
  name: string | undefined,
): Promise<BuilderImage | string> {
  const configured = name === undefined ? settings.clusterBuilder : settings.builders.get(name)
  if (configured === undefined) return `there is no builder ${name} any more: ask a platform admin, or name another one`
  // A name of Kubernetes has no slash, and the name of an image has one.
  if (configured.includes('/')) return { configured, image: configured }
  const builder = await client.get(clusterBuilders, { name: configured })
  if (!builder) return `there is no ClusterBuilder ${configured}: ask a platform admin to create it`
  const { latestImage: image, stack } = builder.status ?? {}
  if (image === undefined) return `ClusterBuilder ${configured} is not ready: ask a platform admin to check its conditions`
  return { configured, image, ...defined({ stack: stack?.id }) }
}

/** After a create met another object of that name. */
export async function existing({ client }: OfClient, key: BuildKey, owner: BuildOwner): Promise<StartOutcome> {
  const build = await client.get(kpackBuilds, key)
  if (build && belongsTo(build, owner) && build.metadata.deletionTimestamp === undefined) return { kind: 'started' }
  const message = `a Build named ${key.name} exists that is being deleted or belongs to another ${owner.kind}`
  return { kind: 'refused', message }
}

/** The pod waits for the Secret that it mounts. Resolves to why it cannot be made. */
async function provideSecrets({ secrets }: KpackDeps, { apiVersion, kind, metadata }: KpackBuild): Promise<string | undefined> {
  const { name, namespace = '', uid = '', annotations = {} } = metadata
  const names = annotations[secretsAnnotation]?.split(',') ?? []
  const owner = annotations[ownerAnnotation(remoteSync.kind)]
  if (names.length === 0 || owner === undefined) return undefined
  const provided = await secrets.provide({
    key: { namespace, name },
    namespace: parseKey(owner).namespace ?? '',
    names,
    owner: { apiVersion, kind, name, uid },
    entries: { type: 'sekisho' },
  })
  return provided.kind === 'missing' ? provided.message : undefined
}

/** Call before the cache starts: it adds an index. */
export function createKpackBuilder(deps: KpackDeps): Builder {
  const { client, builds, settings, clock, fieldManager, labelsOf } = deps
  builds.addIndex(ownerIndex, ownerUids)
  builds.addIndex(ownerKeyIndex, ownerKeyTexts)

  async function start(request: BuildRequest): Promise<StartOutcome> {
    const image = await builderImage(deps, request.builder)
    if (typeof image === 'string') return { kind: 'refused', message: image }
    try {
      const build = await client.create(kpackBuilds, kpackBuildManifest(request, image, settings), { fieldManager })
      const missing = await provideSecrets(deps, build)
      if (missing === undefined) return { kind: 'started' }
      await client.delete(kpackBuilds, request.key)
      return { kind: 'refused', message: missing }
    } catch (error) {
      if (isKubeError(error, 409)) return existing(deps, request.key, request.owner)
      if (!isKubeError(error) || error.retryable || lacksRight(error)) throw error
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
    const log = await client.podLogs(key, { container, tailLines: logLines, limitBytes: logBytes }).catch((error: unknown) => {
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
      // The process may have ended between the Build and its Secret, for which the pod waits.
      if (!hasEnded(build) && (build.status?.stepStates ?? []).length === 0) await provideSecrets(deps, build)
      return readBuildState(build, await evidenceOf(build), clock.now())
    },
    cancel: key => client.delete(kpackBuilds, key),
    ofOwner: owner =>
      [...builds.byIndex(ownerIndex, owner.uid)]
        .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
        .map(build => ({
          key: { namespace: build.metadata.namespace ?? '', name: build.metadata.name },
          ended: hasEnded(build),
          createdAt: build.metadata.creationTimestamp ?? '',
          isRebase: isRebase(build),
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
        .map(build => ({ tenant: build.metadata.namespace ?? '', name: build.metadata.name, isRebase: isRebase(build) })),
    logged: () =>
      builds.list().flatMap(build => {
        const { url, revision = '' } = build.spec.source.git ?? {}
        const result = hasEnded(build) ? (hasFailed(build) ? 'Failed' : 'Succeeded') : undefined
        const masked = url === undefined ? [] : [url]
        const read = { pod: build.status?.podName, steps: stepsOf(build), masked }
        return loggedBuild(build, { commit: revision, ...read, result, pushes: pushesOf(build) }) ?? []
      }),
    known: key => builds.get(key) !== undefined,
  }
}

/** Whether the cluster has kpack. Call before the manager starts: a watch on a kind that does not exist never becomes ready. */
export async function kpackInstalled(client: Pick<KubeClient, 'get'>): Promise<boolean> {
  return (await client.get(customResourceDefinitions, { name: kpackBuildCrd })) !== undefined
}
