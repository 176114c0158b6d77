// An API server in memory, with the caches of the process under test, which are behind, and the end of that process between two
// writes. As strict as the real one where a controller relies on it: names, uids, versions.
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Installation } from '../../../api/github/installation.ts'
import { type KubeObject, noVersion, type ObjectKey, type ResourceType } from '../../../api/resource.ts'
import { createObjectCache, type ObjectCache } from '../../../kube/cache/object-cache.ts'
import type { Applied, KubeClient, NewObject } from '../../../kube/client/client.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import { type AppPipelineCaches, addAppPipelineIndexes } from '../gather.ts'
import type { AppPipelineDeps } from '../reconcile.ts'

/** The process ended right before or after a write. */
export class Crash extends Error {}

export type Stored = KubeObject & { readonly spec?: object; readonly status?: object }

const keyText = (kind: string, name: string): string => `${kind}/${name}`

/** RFC 7386. */
export function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = { ...(typeof target === 'object' && target !== null ? target : {}) }
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field]
    else result[field] = merged(result[field], value)
  }
  return result
}

const cacheNames: Readonly<Record<string, keyof AppPipelineCaches>> = {
  AppPipeline: 'pipelines',
  Application: 'applications',
  RemoteSync: 'remoteSyncs',
  PreviewApproval: 'approvals',
  Installation: 'installations',
  RepositoryGrant: 'grants',
  ServiceInstance: 'instances',
  Bucket: 'buckets',
  ServiceClass: 'classes',
}

function emptyCaches(): AppPipelineCaches {
  const caches: AppPipelineCaches = {
    pipelines: createObjectCache<AppPipeline>(),
    applications: createObjectCache<Application>(),
    remoteSyncs: createObjectCache<RemoteSync>(),
    approvals: createObjectCache(),
    installations: createObjectCache<Installation>(),
    grants: createObjectCache(),
    instances: createObjectCache(),
    buckets: createObjectCache(),
    classes: createObjectCache(),
  }
  addAppPipelineIndexes(caches)
  return caches
}

const refused = (status: number, reason: string, message = reason): KubeError => new KubeError(message, { status, reason })

/** The objects, and what caches have not seen of them yet. */
export function createSmallStorage() {
  const objects = new Map<string, Stored>()
  let version = 1
  let caches = emptyCaches()
  let behind: (() => void)[] = []
  const cacheOf = (kind: string) => caches[cacheNames[kind] ?? 'pipelines'] as unknown as ObjectCache<KubeObject>
  return {
    caches: () => caches,
    version: () => version,
    find: (kind: string, name: string): Stored | undefined => structuredClone(objects.get(keyText(kind, name))),
    list: (kind: string): readonly Stored[] => [...objects.values()].filter(object => object.kind === kind),
    put(object: Stored): Stored {
      const key = keyText(object.kind, object.metadata.name)
      version += 1
      const uid = objects.get(key)?.metadata.uid ?? `uid-${version}`
      const next = structuredClone({ ...object, metadata: { ...object.metadata, uid, resourceVersion: String(version) } })
      objects.set(key, next)
      behind.push(() => cacheOf(next.kind).upsert(structuredClone(next)))
      return structuredClone(next)
    },
    drop(object: Stored): void {
      objects.delete(keyText(object.kind, object.metadata.name))
      behind.push(() => cacheOf(object.kind).remove(structuredClone(object)))
    },
    /** Shows the caches what was written; `most`: no more than so many writes. */
    observe(most = Number.POSITIVE_INFINITY): void {
      for (const show of behind.splice(0, most)) show()
    },
    /** The caches of the next process. */
    relist(): void {
      behind = []
      caches = emptyCaches()
      for (const object of objects.values()) cacheOf(object.kind).upsert(structuredClone(object))
    },
  }
}

export type SmallStorage = ReturnType<typeof createSmallStorage>

function applied(storage: SmallStorage, { kind }: ResourceType, object: Applied): Stored {
  const { uid, resourceVersion, finalizers, ...rest } = object.metadata
  const before = storage.find(kind, rest.name)
  if (before !== undefined && resourceVersion === noVersion) throw refused(409, 'Conflict')
  if (uid !== undefined && before?.metadata.uid !== uid) throw refused(409, 'Conflict', 'uid mismatch')
  if (object['spec'] !== undefined)
    return storage.put({ ...before, ...object, metadata: { ...before?.metadata, ...rest } } as Stored)
  // An apply of the finalizer, or without it.
  const metadata = { ...before?.metadata, ...rest, ...(finalizers === undefined ? { finalizers: [] } : { finalizers }) }
  const next = { ...before, ...object, metadata } as Stored
  if (finalizers !== undefined || metadata.deletionTimestamp === undefined) return storage.put(next)
  storage.drop(next)
  return next
}

type ClientDeps = {
  readonly storage: SmallStorage
  /** Called before a write is made and after it was; throws when the process ends there. */
  readonly beforeWrite: () => void
  readonly afterWrite: () => void
  /** Called with each object that is about to be deleted, or was made. */
  readonly onDelete: (object: Stored) => void
  readonly onCreate: (object: Stored) => void
}

/** The client of the process under test. */
export function createSmallClient(deps: ClientDeps) {
  const { storage, onDelete, onCreate } = deps
  async function write<T>(make: () => T): Promise<T> {
    deps.beforeWrite()
    const result = make()
    deps.afterWrite()
    return result
  }
  const client = {
    get: async ({ kind }: ResourceType, { name }: ObjectKey) => storage.find(kind, name),
    create: (type: ResourceType, object: NewObject<Stored>) =>
      write(() => {
        const { name = '' } = object.metadata
        if (storage.find(type.kind, name) !== undefined) throw refused(409, 'AlreadyExists')
        return storage.put({ ...object, metadata: { ...object.metadata, name } })
      }),
    apply: (type: ResourceType, object: Applied) =>
      write(() => {
        const isNew = storage.find(type.kind, object.metadata.name) === undefined
        const made = applied(storage, type, object)
        if (isNew) onCreate(made)
        return made
      }),
    applyStatus: (type: ResourceType, { metadata, ...rest }: Applied) =>
      write(() => {
        const before = storage.find(type.kind, metadata.name)
        return before && storage.put({ ...before, status: structuredClone(rest['status'] as object) })
      }),
    mergePatch: (type: ResourceType, { name }: ObjectKey, patch: object) =>
      write(() => {
        const before = storage.find(type.kind, name)
        return before && storage.put(merged(before, patch) as Stored)
      }),
    delete: (type: ResourceType, { name }: ObjectKey, { uid }: { readonly uid?: string } = {}) =>
      write(() => {
        const found = storage.find(type.kind, name)
        if (found === undefined || found.metadata.uid !== uid) return
        onDelete(found)
        // One that has a finalizer, which others take away.
        if (type.kind !== 'ServiceInstance' && type.kind !== 'Bucket') storage.drop(found)
        else if (found.metadata.deletionTimestamp === undefined)
          storage.put({ ...found, metadata: { ...found.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
      }),
  }
  // Written for any kind of object, as the real one: the types of the kinds are not looked at here.
  return client as unknown as AppPipelineDeps['client'] & Pick<KubeClient, 'applyStatus'>
}
