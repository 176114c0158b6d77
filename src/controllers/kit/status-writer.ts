// How every controller reports: the status by server-side apply, only when it differs, and an Event when a condition changes.
// The writer remembers its own writes: a cache can lag behind a status that this process has just written, and a reconcile that
// starts from the older status would decide, record and write the same thing twice. One writer per controller; it never decides
// what a status says.
import type { KindDefinition } from '../../api/kind.ts'
import { classOf, type ReasonClass } from '../../api/reasons/reason.ts'
import type { Condition, KubeObject, ResourceType } from '../../api/resource.ts'
import { keyOf } from '../../api/resource.ts'
import { maxConditionMessage } from '../../api/schema/conditions-schema.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder, ObjectEvent } from '../../kube/object/events.ts'
import { defined } from '../../lib/json/defined.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { wellFormed } from '../../lib/json/well-formed.ts'

type Status = { readonly conditions?: readonly Condition[] }
type Reporting<S extends Status> = KubeObject & { readonly status?: S }

/** One per controller. Both methods are safe for concurrent use on different objects. */
export type StatusWriter<T extends Reporting<Status>> = {
  /** The newer of the cached object and this writer's last write of it. */
  readonly latest: (cached: T) => T
  /**
   * Resolves to the given object with that status. Sends nothing when the object already has the status. An object that was
   * deleted in the meantime is not an error.
   * @throws KubeError when the API server refuses or cannot be reached
   */
  readonly write: (object: T, status: NonNullable<T['status']>) => Promise<T>
}

export type StatusWriterDeps<T extends KubeObject> = {
  readonly type: ResourceType<T> & Pick<KindDefinition, 'reasons'>
  readonly fieldManager: string
  readonly client: Pick<KubeClient, 'applyStatus'>
  readonly cache: Pick<Cache<T>, 'get'>
  readonly events: Pick<EventRecorder, 'record'>
  /** Record an Event also when only the message changed. Default false. */
  readonly includesMessage?: boolean
  /** The types of the conditions whose changes are recorded as Events. Default: Ready. */
  readonly eventsOn?: readonly string[]
}

/** Versions of one object can be compared as whole numbers (Kubernetes API concepts, "Resource versions", KEP-5504). */
function isNewer(a: KubeObject, b: KubeObject): boolean {
  const [left = '', right = ''] = [a.metadata.resourceVersion, b.metadata.resourceVersion]
  return /^\d+$/.test(left) && /^\d+$/.test(right) && BigInt(left) > BigInt(right)
}

/** Of the Event of a condition that is not True: a Warning says that somebody has to look at it. */
const eventTypes: Readonly<Record<ReasonClass, ObjectEvent['type']>> = {
  ready: 'Normal',
  progress: 'Normal',
  intended: 'Normal',
  machine: 'Warning',
  person: 'Warning',
  failed: 'Warning',
}

/** A message that is too long would keep the whole status from being written. */
function bounded<S extends Status>(status: S): S {
  const { conditions = [] } = status
  if (conditions.every(({ message }) => message.length <= maxConditionMessage)) return status
  const cut = (message: string): string =>
    message.length <= maxConditionMessage ? message : `${message.slice(0, maxConditionMessage - 1)}…`
  return { ...status, conditions: conditions.map(one => ({ ...one, message: cut(one.message) })) }
}

// Each write adds one entry and checks the two oldest, dropping those that the cache has caught up with: the map shrinks to
// unobserved writes.
const checksPerWrite = 2

// Memory (own status): uid → the status that this process wrote last
//   life: until the cache shows it
//   bound: writes that the cache does not show yet; two are checked at each write
//   freshness: the watch event, deletion
//   replicas: leader only; its client refuses writes of a deposed one
/** Call once per controller: two writers would not know of each other's writes. */
export function createStatusWriter<S extends Status, T extends Reporting<S>>(deps: StatusWriterDeps<T>): StatusWriter<T> {
  const { type, fieldManager, client, cache, events, includesMessage = false, eventsOn = ['Ready'] } = deps
  const written = new Map<string, T>()

  /**
   * Drops the oldest entries that the cache shows by now, or whose object was deleted. A Map iterates in the order of
   * insertion.
   */
  function dropObserved(): void {
    for (const [uid, own] of written.entries().take(checksPerWrite)) {
      const cached = cache.get(keyOf(own))
      if (cached?.metadata.uid !== uid || !isNewer(own, cached)) written.delete(uid)
    }
  }

  function eventOf(object: T, status: Status, type: string): ObjectEvent | undefined {
    const after = findCondition(status.conditions, type)
    const before = findCondition(object.status?.conditions, type)
    if (after === undefined) return undefined
    const same = before?.reason === after.reason && before.status === after.status
    if (same && (!includesMessage || before.message === after.message)) return undefined
    const of = after.status === 'True' ? 'ready' : (classOf(deps.type, after.reason) ?? 'failed')
    return { type: eventTypes[of], reason: after.reason, message: after.message }
  }

  /** What several conditions say alike has happened once. */
  function recordEvents(object: T, status: Status): void {
    const changes = eventsOn.flatMap(type => eventOf(object, status, type) ?? [])
    for (const [at, change] of changes.entries())
      if (!changes.slice(0, at).some(earlier => sameJson(earlier, change))) events.record(object, change)
  }

  return {
    latest(cached) {
      const uid = cached.metadata.uid ?? ''
      const own = written.get(uid)
      if (own && isNewer(own, cached)) return own
      written.delete(uid)
      return cached
    },
    async write(object, wanted) {
      // Messages have parts of logs and names of branches, cut to their bounds.
      const status = wellFormed(bounded(wanted))
      if (sameJson(object.status, status)) return object
      const { apiVersion, kind } = type
      const { uid } = object.metadata
      const metadata = { ...keyOf(object), ...defined({ uid }) }
      const answered = await client.applyStatus(type, { apiVersion, kind, metadata, status }, { fieldManager, force: true })
      dropObserved()
      if (answered && uid !== undefined) written.set(uid, answered)
      recordEvents(object, status)
      // Not the server's answer, which may carry a newer spec than the one that this status describes.
      return { ...object, status }
    },
  }
}
