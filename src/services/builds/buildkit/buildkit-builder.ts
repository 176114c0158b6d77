// The builder that uses BuildKit, for repositories with a Dockerfile: one pod for one commit; deleting the pod cancels the build. Builds live in the
// tenant's build namespace, where the tenant has no rights.
import { type Pod, pods } from '../../../api/builtin/index.ts'
import { dockerfileBuildContainers as containers, dockerfileBuildLabel } from '../../../api/dockerfile-build.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isKubeError, lacksRight } from '../../../kube/client/errors.ts'
import { uidOf } from '../../../kube/object/owner.ts'
import type { Clock } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/errors.ts'
import type { BuildSecrets } from '../build-secrets.ts'
import type { Builder, BuildKey, BuildOwner, BuildRequest, StartOutcome } from '../builder.ts'
import {
  belongsTo,
  loggedBuild,
  ownerKeys,
  ownerKeyText,
  ownerKeyTexts,
  ownerUidOf,
  ownerUids,
  secretsAnnotation,
} from '../kpack/build-manifest.ts'
import type { LabelAnswer } from '../kpack/image-commit.ts'
import { type BuildkitSettings, buildkitPod, pushesOf, sourceOf } from './pod-manifest.ts'
import {
  builtImage,
  commitOfRevision,
  hasBegun,
  hasEnded,
  hasFailed,
  type PodEvidence,
  readPodState,
  stepOf,
} from './pod-state.ts'

/** Selects the pods of Dockerfile builds. */
export const buildkitScope = { labelSelector: dockerfileBuildLabel }

export type BuildkitDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'delete' | 'podLogs'>
  /** The pods of `buildkitScope`. */
  readonly pods: Cache<Pod>
  /** Of the pods that it creates. */
  readonly fieldManager: string
  readonly settings: BuildkitSettings
  readonly secrets: Pick<BuildSecrets, 'provide'>
  readonly clock: Clock
  /** Reads the labels of an image that is named by its digest. Never rejects. */
  readonly labelsOf: (image: string) => Promise<LabelAnswer>
  /** Whether the registry speaks HTTP without TLS. Rejects while it does not answer. */
  readonly plainHttp: () => Promise<boolean>
}

const ownerIndex = 'dockerfile-build-owner'
const ownerKeyIndex = 'dockerfile-build-owner-key'

function keyOfPod({ metadata: { namespace = '', name } }: Pod): BuildKey {
  return { namespace, name }
}

function isLeaving({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined
}

/** Call before the cache starts: it adds an index. */
export function createBuildkitBuilder(deps: BuildkitDeps): Builder {
  const { client, pods: cache, settings, secrets, clock, fieldManager, labelsOf, plainHttp } = deps
  cache.addIndex(ownerIndex, ownerUids)
  cache.addIndex(ownerKeyIndex, ownerKeyTexts)

  async function existing(key: BuildKey, owner: BuildOwner): Promise<StartOutcome> {
    const pod = await client.get(pods, key)
    if (pod && belongsTo(pod, owner) && pod.metadata.deletionTimestamp === undefined) return { kind: 'started' }
    const message = `a Pod named ${key.name} exists that is being deleted or belongs to another ${owner.kind}`
    return { kind: 'refused', message }
  }

  /** The pod waits for the Secret that it mounts. Resolves to why it cannot be made. */
  async function provideSecrets(pod: Pod): Promise<string | undefined> {
    const { name, annotations = {} } = pod.metadata
    const names = annotations[secretsAnnotation]?.split(',') ?? []
    const [owner] = ownerKeys(pod, 'RemoteSync')
    if (names.length === 0 || owner?.namespace === undefined) return undefined
    const { apiVersion, kind } = pods
    const provided = await secrets.provide({
      key: keyOfPod(pod),
      namespace: owner.namespace,
      names,
      owner: { apiVersion, kind, name, uid: uidOf(pod) },
    })
    return provided.kind === 'missing' ? provided.message : undefined
  }

  async function start(request: BuildRequest): Promise<StartOutcome> {
    let plain: boolean
    try {
      plain = await plainHttp()
    } catch (error) {
      return { kind: 'refused', message: `the image registry does not answer: ${messageOf(error)}`.slice(0, 500) }
    }
    try {
      const pod = await client.create(pods, buildkitPod(request, settings, plain), { fieldManager })
      const missing = await provideSecrets(pod)
      if (missing === undefined) return { kind: 'started' }
      await client.delete(pods, request.key)
      return { kind: 'refused', message: missing }
    } catch (error) {
      if (isKubeError(error, 409)) return existing(request.key, request.owner)
      if (!isKubeError(error) || error.retryable || lacksRight(error)) throw error
      return { kind: 'refused', message: `the API server refused the Pod of the build: ${error.message}`.slice(0, 500) }
    }
  }

  async function evidenceOf(pod: Pod): Promise<PodEvidence> {
    const image = builtImage(pod)
    if (image !== undefined) return { proof: commitOfRevision(await labelsOf(image)) }
    return hasFailed(pod) ? { log: await logOf(pod) } : {}
  }

  /** The log may be gone with its pod; then the pod's own message is used. */
  async function logOf({ metadata: { namespace = '', name } }: Pod): Promise<string> {
    const key = { namespace, name }
    const pod = await client.get(pods, key)
    if (!pod) return ''
    const container = stepOf(pod)
    return client.podLogs(key, { container, tailLines: 200, limitBytes: 262_144 }).catch((error: unknown) => {
      if (isKubeError(error) && !error.retryable) return `the log of step ${container} cannot be read: ${messageOf(error)}`
      throw error
    })
  }

  return {
    start,
    async observe(key, owner) {
      const pod = cache.get(key) ?? (await client.get(pods, key))
      if (!pod || !belongsTo(pod, owner) || isLeaving(pod)) return { kind: 'absent' }
      // The process may have ended between the pod and its Secret, for which the pod waits.
      if (!hasEnded(pod) && !hasBegun(pod)) await provideSecrets(pod)
      return readPodState(pod, await evidenceOf(pod), clock.now())
    },
    cancel: key => client.delete(pods, key),
    ofOwner: owner =>
      [...cache.byIndex(ownerIndex, owner.uid)]
        .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
        .map(pod => ({ key: keyOfPod(pod), ended: hasEnded(pod), createdAt: pod.metadata.creationTimestamp ?? '' })),
    ofKey: (kind, key) =>
      cache
        .byIndex(ownerKeyIndex, ownerKeyText(kind, key))
        .filter(pod => !isLeaving(pod))
        .map(pod => ({ key: keyOfPod(pod), ownerUid: ownerUidOf(pod, kind) })),
    running: () =>
      cache
        .list()
        .filter(pod => !hasEnded(pod) && !isLeaving(pod))
        .map(pod => ({ tenant: pod.metadata.namespace ?? '', name: pod.metadata.name })),
    logged: () =>
      cache.list().flatMap(pod => {
        const { url, commit } = sourceOf(pod)
        const result = hasEnded(pod) ? (hasFailed(pod) ? 'Failed' : 'Succeeded') : undefined
        const steps = [containers.source, containers.build]
        const masked = url === '' ? [] : [url]
        return loggedBuild(pod, { commit, pod: pod.metadata.name, steps, result, masked, pushes: pushesOf(pod) }) ?? []
      }),
    known: key => cache.get(key) !== undefined,
  }
}
