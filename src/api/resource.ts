// The JSON shapes that all Kubernetes objects share, and the typed name of a resource. Plain JSON: timestamps are strings,
// nothing is a class.

export type OwnerReference = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export type ObjectMeta = {
  readonly name: string
  readonly namespace?: string
  readonly generateName?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  /** How many seconds before `deletionTimestamp` the deletion was requested. */
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
}

/** What every object has. */
export type KubeObject = { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMeta }

/**
 * metav1.Condition: https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
 */
export type Condition = {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
  readonly observedGeneration: number
}

/** The key of an object among those of its kind. */
export type ObjectKey = { readonly namespace?: string; readonly name: string }

/** Names a resource on the API server and, for the compiler, the shape of its objects. */
export type ResourceType<T extends KubeObject = KubeObject> = {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  /** Never set; carries the type. */
  readonly objectType?: T | undefined
}

/** Whether an object, or what names one, is of the type. */
export function isOf<T extends KubeObject>(
  { apiVersion, kind }: ResourceType<T>,
  object: { readonly apiVersion?: unknown; readonly kind?: unknown },
): object is T {
  return object.apiVersion === apiVersion && object.kind === kind
}

/** The key of an object. */
export function keyOf(object: KubeObject): ObjectKey {
  const { name, namespace } = object.metadata
  return namespace === undefined ? { name } : { namespace, name }
}

/** `namespace/name`, or `name` for cluster-scoped objects: the only text form of a key. */
export function keyText(key: ObjectKey): string {
  return key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`
}

/** The inverse of `keyText`. Names do not contain slashes. */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/')
  return slash === -1 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}

/** A time as metav1.Time writes it: RFC 3339 in UTC with whole seconds. */
export function wireTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`
}

/**
 * A resourceVersion that no object has: an apply with it conflicts where an object of that name exists and creates where none
 * does, because the API server ignores the version then (test/integration/application.test.ts proves it). So the apply only
 * ever creates, and unlike a plain create it can be allowed for one name.
 */
export const noVersion = '1'
