// The client of the Kubernetes API as its users see it: typed verbs on plain JSON. Nothing is a class, timestamps stay strings, unknown fields stay.
// This file is the port that everybody codes against; `kube-client.ts` implements it. Nobody else opens a connection to the server.
import type { KubeObject, ObjectKey, ObjectMeta, ResourceType } from '../../api/resource.ts'

/** Asked right before the bytes of a write leave, and again before each repetition; its signal ends one that is on its way. */
export type WriteGuard = { readonly mayWrite: () => boolean; readonly signal: AbortSignal }

export type WriteOptions = { readonly fieldManager: string; readonly guard?: WriteGuard }

export type ApplyOptions = WriteOptions & { readonly force?: boolean }

export type ListOptions = { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string }

/** An apply configuration: the fields one manager wants, as plain JSON. With `uid` it never creates and never touches a namesake. */
export type Applied = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string } & Partial<ObjectMeta>
  readonly [field: string]: unknown
}

/** An object to create: `generateName` may stand for `name`; status is not accepted by the server on create. */
export type NewObject<T extends KubeObject> = Omit<T, 'metadata' | 'status'> & { readonly metadata: Partial<ObjectMeta> }

/** Everything of a kind at one moment, and the version a watch continues from. */
export type Snapshot<T extends KubeObject> = { readonly items: readonly T[]; readonly resourceVersion: string }

/** One step of a watch. A bookmark carries no object: it only says how far we have seen. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T; readonly resourceVersion: string }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }

export type WatchOptions = ListOptions & {
  readonly resourceVersion: string
  readonly signal: AbortSignal
  /** The server is asked to end it after 2 s: after a failure, to hear it from end to end again. Dead after 10 s. */
  readonly brief?: boolean
}

/** With `uid`, a namesake is left alone. */
export type DeleteOptions = { readonly uid?: string; readonly guard?: WriteGuard }

/** Rejects with KubeError unless a method says that it answers `undefined`. */
export type KubeClient = {
  /** `undefined` when it does not exist. */
  readonly get: <T extends KubeObject>(type: ResourceType<T>, key: ObjectKey) => Promise<T | undefined>
  /** All pages. */
  readonly list: <T extends KubeObject>(type: ResourceType<T>, options?: ListOptions) => Promise<readonly T[]>
  /** As `list`, with the version to watch from. */
  readonly snapshot: <T extends KubeObject>(
    type: ResourceType<T>,
    options?: ListOptions & { readonly signal?: AbortSignal },
  ) => Promise<Snapshot<T>>
  readonly create: <T extends KubeObject>(type: ResourceType<T>, object: NewObject<T>, options: WriteOptions) => Promise<T>
  /** Server-side apply. Without `metadata.uid` it is an upsert; without `force` a conflict is a KubeError 409. */
  readonly apply: <T extends KubeObject>(type: ResourceType<T>, object: Applied, options: ApplyOptions) => Promise<T>
  /** Server-side apply of `status`; `undefined` when the object is gone (with `metadata.uid`: also when a namesake stands there). */
  readonly applyStatus: <T extends KubeObject>(
    type: ResourceType<T>,
    object: Applied,
    options: ApplyOptions,
  ) => Promise<T | undefined>
  /** RFC 7386. `undefined` when it does not exist; with `metadata.resourceVersion` in the patch a lost race is a KubeError 409. */
  readonly mergePatch: <T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: object,
    options: WriteOptions,
  ) => Promise<T | undefined>
  /** Asks for deletion, of dependents too. Absent, already being deleted, or (with `uid`) another object of that name: done. */
  readonly delete: (type: ResourceType, key: ObjectKey, options?: DeleteOptions) => Promise<void>
  readonly podLogs: (
    key: ObjectKey,
    options: { readonly container: string; readonly tailLines: number; readonly limitBytes: number },
  ) => Promise<string>
  /** One watch connection: ends when the server ends it, throws KubeError (410 when the version is too old) or the signal's reason. */
  readonly watch: <T extends KubeObject>(type: ResourceType<T>, options: WatchOptions) => AsyncIterable<WatchEvent<T>>
}
