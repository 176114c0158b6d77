// The port of the Kubernetes client: typed verbs on plain JSON. There are no classes, timestamps stay strings, unknown fields
// are kept. `kube-client.ts` implements it; no other code opens a connection to the API server.
import type { KubeObject, ObjectKey, ObjectMeta, ResourceType } from '../../api/resource.ts'

/** `mayWrite` is checked right before a write is sent, and before each retry; the signal aborts a write in progress. */
export type WriteGuard = { readonly mayWrite: () => boolean; readonly signal: AbortSignal }

/** With `dryRun` the API server judges the write, admission included, and stores nothing. */
export type WriteOptions = { readonly fieldManager: string; readonly guard?: WriteGuard; readonly dryRun?: boolean }

export type ApplyOptions = WriteOptions & { readonly force?: boolean }

export type ListOptions = { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string }

/**
 * `keep` is applied to the items of each page, so that a list of large objects is never whole in memory. With `most`, no more
 * than so many objects are asked for: the first ones by name.
 */
export type SnapshotOptions<T> = ListOptions & {
  readonly signal?: AbortSignal
  readonly keep?: (item: T) => T
  readonly most?: number
}

/**
 * An apply configuration: the fields that one manager owns. With `metadata.uid` it never creates and never changes another
 * object of that name.
 */
export type Applied = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string } & Partial<ObjectMeta>
  readonly [field: string]: unknown
}

/** An object to create, with `name` or `generateName`. The server ignores a status on create. */
export type NewObject<T extends KubeObject> = Omit<T, 'metadata' | 'status'> & { readonly metadata: Partial<ObjectMeta> }

/** All objects of a kind at one resourceVersion, from which a watch can continue. */
export type Snapshot<T extends KubeObject> = { readonly items: readonly T[]; readonly resourceVersion: string }

/** One event of a watch. A bookmark has no object; it only advances the resourceVersion. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T; readonly resourceVersion: string }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }

export type WatchOptions = ListOptions & {
  readonly resourceVersion: string
  readonly signal: AbortSignal
  /** Requests an end after 2 s, and gives up after 10 s: after a failure, to learn quickly whether the connection works. */
  readonly brief?: boolean
}

/** With `uid`, another object of that name is not deleted. With `now`, a pod is removed at once, without its node. */
export type DeleteOptions = { readonly uid?: string; readonly now?: true; readonly guard?: WriteGuard; readonly dryRun?: boolean }

export type PodLogOptions = { readonly container: string; readonly tailLines: number; readonly limitBytes: number }

/**
 * As the query of a pod's log. `sinceTime` has whole seconds. Without `follow` it ends with what the log has now; with it, when
 * the container ends.
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
 */
export type PodLogStreamOptions = {
  readonly container: string
  readonly sinceTime?: string | undefined
  readonly follow: boolean
  readonly signal: AbortSignal
  /** The log of the container before its last restart. */
  readonly previous?: boolean
  /** Only so many of the lines that exist. */
  readonly tailLines?: number | undefined
  /** The server ends the stream after so many bytes. */
  readonly limitBytes?: number | undefined
}

/** All methods reject with KubeError, except where they say that they resolve to `undefined`. */
export type KubeClient = {
  /** `undefined` when the object does not exist. */
  readonly get: <T extends KubeObject>(type: ResourceType<T>, key: ObjectKey) => Promise<T | undefined>
  /** All objects, whatever the number of pages. */
  readonly list: <T extends KubeObject>(type: ResourceType<T>, options?: ListOptions) => Promise<readonly T[]>
  /** As `list`, with the resourceVersion to watch from. */
  readonly snapshot: <T extends KubeObject>(type: ResourceType<T>, options?: SnapshotOptions<T>) => Promise<Snapshot<T>>
  /** A name that exists is a KubeError 409. */
  readonly create: <T extends KubeObject>(type: ResourceType<T>, object: NewObject<T>, options: WriteOptions) => Promise<T>
  /** Server-side apply. Without `metadata.uid` it is an upsert; without `force` a conflict is a KubeError 409. */
  readonly apply: <T extends KubeObject>(type: ResourceType<T>, object: Applied, options: ApplyOptions) => Promise<T>
  /** Server-side apply of `status`; `undefined` when the object (with `metadata.uid`: the object of this uid) does not exist. */
  readonly applyStatus: <T extends KubeObject>(
    type: ResourceType<T>,
    object: Applied,
    options: ApplyOptions,
  ) => Promise<T | undefined>
  /**
   * RFC 7386. `undefined` when the object does not exist. With `metadata.resourceVersion` in the patch a conflict is a
   * KubeError 409.
   */
  readonly mergePatch: <T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: object,
    options: WriteOptions,
  ) => Promise<T | undefined>
  /**
   * Requests deletion in the background. Succeeds when the object is absent, is being deleted, or (with `uid`) is another
   * object.
   */
  readonly delete: (type: ResourceType, key: ObjectKey, options?: DeleteOptions) => Promise<void>
  /** The last lines of a container's log, at most `limitBytes`. */
  readonly podLogs: (key: ObjectKey, options: PodLogOptions) => Promise<string>
  /**
   * The log of a container as the kubelet sends it, each line with its time in front. It is read as fast as it is consumed; a
   * consumer that returns early ends it. Rejects with KubeError 400 while the container has not started, and 404 without the
   * pod; a broken connection throws later.
   */
  readonly podLogStream: (key: ObjectKey, options: PodLogStreamOptions) => Promise<AsyncIterable<Uint8Array>>
  /**
   * One watch connection. Ends when the server ends it; throws KubeError (410 when the version is too old) or the signal's
   * reason.
   */
  readonly watch: <T extends KubeObject>(type: ResourceType<T>, options: WatchOptions) => AsyncIterable<WatchEvent<T>>
}
