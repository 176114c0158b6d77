// What builders have in common whose builds are objects of the cluster, one for one commit: to create one, to find it again,
// and to tell whose it is. Deleting the object cancels the build.

import { remoteSync } from '../../api/apps/remote-sync.ts'
import { type Pod, pods } from '../../api/builtin/index.ts'
import { type KubeObject, type ObjectKey, parseKey, type ResourceType } from '../../api/resource.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient, NewObject } from '../../kube/client/client.ts'
import { isKubeError, lacksRight } from '../../kube/client/errors.ts'
import { uidOf } from '../../kube/object/owner.ts'
import { messageOf } from '../../lib/errors.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import type { BuildSecrets, BuildSecretsRequest } from './build-secrets.ts'
import type { Builder, BuildKey, BuildOwner, BuildRequest, BuildState, LoggedBuild } from './builder.ts'
import {
  belongsTo,
  loggedBuild,
  ownerAnnotation,
  ownerKeyText,
  ownerKeyTexts,
  ownerUidOf,
  ownerUids,
  secretsAnnotation,
} from './owner.ts'

export type ObjectBuilderDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'delete' | 'podLogs'>
  /** Of the objects that it creates. */
  readonly fieldManager: string
  readonly secrets: Pick<BuildSecrets, 'provide'>
}

/** What differs between the kinds of builds. */
export type BuildShape<T extends KubeObject> = {
  readonly type: ResourceType<T>
  /** The builds of the platform. */
  readonly cache: Cache<T>
  /** The object to create, or why there is none. */
  readonly manifest: (request: BuildRequest) => Promise<NewObject<T> | string>
  /** Of the Secret with the values of AppSecrets. */
  readonly secretEntries?: BuildSecretsRequest['entries']
  /** Whether it runs: then everything that its pod mounts exists. */
  readonly hasBegun: (build: T) => boolean
  readonly hasEnded: (build: T) => boolean
  readonly hasFailed: (build: T) => boolean
  /** Whether a failed one was deleted before it failed; absent where a deleted build is gone at once. */
  readonly wasStopped?: (build: T) => boolean
  readonly isRebase?: (build: T) => boolean
  readonly stateOf: (build: T) => Promise<BuildState>
  readonly logged: (build: T) => Pick<LoggedBuild, 'commit' | 'pod' | 'steps' | 'pushes'> & { readonly sourceUrl: string }
}

const ownerIndex = 'build/owner'
const ownerKeyIndex = 'build/owner-key'

function buildKey(build: KubeObject): BuildKey {
  return { namespace: build.metadata.namespace ?? '', name: build.metadata.name }
}

function isLeaving({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined
}

function resultOf<T extends KubeObject>(
  shape: Pick<BuildShape<T>, 'hasEnded' | 'hasFailed' | 'wasStopped'>,
  build: T,
): LoggedBuild['result'] {
  if (!shape.hasEnded(build)) return undefined
  if (!shape.hasFailed(build)) return 'Succeeded'
  return shape.wasStopped?.(build) === true ? 'Cancelled' : 'Failed'
}

/** Call before the cache starts: it adds indexes. */
export function createObjectBuilder<T extends KubeObject>(deps: ObjectBuilderDeps, shape: BuildShape<T>): Builder {
  const { client, fieldManager } = deps
  const { type, cache, hasEnded } = shape
  cache.addIndex(ownerIndex, ownerUids)
  cache.addIndex(ownerKeyIndex, ownerKeyTexts)
  const rebase = (build: T) => (shape.isRebase === undefined ? {} : { isRebase: shape.isRebase(build) })

  /** The pod waits for the Secret that it mounts. Resolves to why it cannot be made. */
  async function provideSecrets(build: T): Promise<string | undefined> {
    const { name, annotations = {} } = build.metadata
    const names = annotations[secretsAnnotation]?.split(',') ?? []
    const owner = annotations[ownerAnnotation(remoteSync.kind)]
    if (names.length === 0 || owner === undefined) return undefined
    const provided = await deps.secrets.provide({
      key: buildKey(build),
      namespace: parseKey(owner).namespace ?? '',
      names,
      owner: { apiVersion: type.apiVersion, kind: type.kind, name, uid: uidOf(build) },
      ...(shape.secretEntries === undefined ? {} : { entries: shape.secretEntries }),
    })
    return provided.kind === 'missing' ? provided.message : undefined
  }

  return {
    async start(request) {
      const manifest = await shape.manifest(request)
      if (typeof manifest === 'string') return { kind: 'refused', message: manifest }
      const created = await createBuildObject({ client, type, fieldManager }, manifest, request.owner)
      if (created.kind !== 'created')
        return created.kind === 'exists' ? { kind: 'started' } : { kind: 'refused', message: created.message }
      const missing = await provideSecrets(created.build)
      if (missing === undefined) return { kind: 'started' }
      await client.delete(type, request.key)
      return { kind: 'refused', message: missing }
    },
    async observe(key, owner) {
      const build = cache.get(key) ?? (await client.get(type, key))
      if (!build || !belongsTo(build, owner) || isLeaving(build)) return { kind: 'absent' }
      // The process may have ended between the build and its Secret, for which the pod waits.
      if (!hasEnded(build) && !shape.hasBegun(build)) await provideSecrets(build)
      return shape.stateOf(build)
    },
    cancel: key => client.delete(type, key),
    ofOwner: owner =>
      [...cache.byIndex(ownerIndex, owner.uid)]
        .sort((a, b) => compareText(b.metadata.creationTimestamp ?? '', a.metadata.creationTimestamp ?? ''))
        .map(build => ({
          key: buildKey(build),
          ended: hasEnded(build),
          createdAt: build.metadata.creationTimestamp ?? '',
          ...rebase(build),
        })),
    ofKey: (kind, key) =>
      cache
        .byIndex(ownerKeyIndex, ownerKeyText(kind, key))
        .filter(build => !isLeaving(build))
        .map(build => ({ key: buildKey(build), ownerUid: ownerUidOf(build, kind) })),
    running: () =>
      cache
        .list()
        .filter(build => !hasEnded(build) && !isLeaving(build))
        .map(build => ({ tenant: build.metadata.namespace ?? '', name: build.metadata.name, ...rebase(build) })),
    logged: () =>
      cache.list().flatMap(build => {
        const { sourceUrl, ...read } = shape.logged(build)
        return loggedBuild(build, { ...read, result: resultOf(shape, build), masked: sourceUrl === '' ? [] : [sourceUrl] }) ?? []
      }),
    known: key => cache.get(key) !== undefined,
  }
}

type Created<T> =
  | { readonly kind: 'created'; readonly build: T }
  /** This owner has it already. */
  | { readonly kind: 'exists' }
  /** The name is taken for now. */
  | { readonly kind: 'taken'; readonly message: string }
  /** Another try would have the same answer. */
  | { readonly kind: 'refused'; readonly message: string }

/** @throws KubeError when a retry may help */
export async function createBuildObject<T extends KubeObject>(
  {
    client,
    type,
    fieldManager,
  }: Pick<BuildShape<T>, 'type'> & {
    readonly client: Pick<KubeClient, 'get' | 'create'>
    readonly fieldManager: string
  },
  manifest: NewObject<T>,
  owner: BuildOwner,
): Promise<Created<T>> {
  const { namespace = '', name = '' } = manifest.metadata
  try {
    return { kind: 'created', build: await client.create(type, manifest, { fieldManager }) }
  } catch (error) {
    if (!isKubeError(error, 409)) {
      if (!isKubeError(error) || error.retryable || lacksRight(error)) throw error
      return { kind: 'refused', message: `the API server refused the ${type.kind} of the build: ${error.message}`.slice(0, 500) }
    }
  }
  const build = await client.get(type, { namespace, name })
  if (build && belongsTo(build, owner) && !isLeaving(build)) return { kind: 'exists' }
  const message = `a ${type.kind} named ${name} exists that is being deleted or belongs to another ${owner.kind}`
  return { kind: 'taken', message }
}

/** npm prints its whole usage after the cause. */
const maxLogLines = 400
/** Counts from the first of these lines: it must not cut their end. */
const maxLogBytes = 1_048_576

/**
 * The pod as it is now, with the end of the log of one of its steps, for the cause of a failure. Nothing of a pod that is gone:
 * then its own message is used. A log that cannot be read says so: it may go with its pod meanwhile.
 */
export async function logOfStep(
  client: Pick<KubeClient, 'get' | 'podLogs'>,
  { namespace = '', name }: ObjectKey,
  containerOf: (pod: Pod) => string,
): Promise<{ readonly pod: Pod | undefined; readonly log: string }> {
  const key = { namespace, name }
  const pod = name === '' ? undefined : await client.get(pods, key)
  if (pod === undefined) return { pod, log: '' }
  const container = containerOf(pod)
  const log = await client
    .podLogs(key, { container, tailLines: maxLogLines, limitBytes: maxLogBytes })
    .catch((error: unknown) => {
      if (isKubeError(error) && !error.retryable) return `the log of step ${container} cannot be read: ${messageOf(error)}`
      throw error
    })
  return { pod, log }
}
