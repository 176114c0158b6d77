// The one way in which a controller reports: its status by server-side apply, only when it says something new, and an Event when Ready changes.
// Reads its own writes: a cache may be a moment behind the status that this process just wrote, and a reconcile that starts from the older
// one would decide, record and write the same thing twice. One writer per controller; it decides nothing about what the status says.
import type { Condition, KubeObject, ResourceType } from '../api/resource.ts'
import { keyOf } from '../api/resource.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import type { KubeClient } from '../kube/client/client.ts'
import { findCondition } from '../kube/object/conditions.ts'
import type { EventRecorder } from '../kube/object/events.ts'
import { sameJson } from '../lib/json/same-json.ts'

type Status = { readonly conditions?: readonly Condition[] }
type Reporting<S extends Status> = KubeObject & { readonly status?: S }

export type StatusWriter<T extends Reporting<Status>> = {
  /** The newer of the cached object and our last write of it. */
  readonly latest: (cached: T) => T
  /**
   * Resolves to the given object with that status. Nothing is sent when it has it already; an object that is gone meanwhile is no error.
   * @throws KubeError when the API server refuses or cannot be reached
   */
  readonly write: (object: T, status: NonNullable<T['status']>) => Promise<T>
}

export type StatusWriterDeps<T extends KubeObject> = {
  readonly type: ResourceType<T>
  readonly fieldManager: string
  readonly client: Pick<KubeClient, 'applyStatus'>
  readonly cache: Pick<Cache<T>, 'get'>
  readonly events: Pick<EventRecorder, 'record'>
  /** Reasons of a Ready that is not True which are stages on the way, not trouble: their Events are Normal. */
  readonly onTheWay?: readonly string[]
  /** An Event also when only the message changed. */
  readonly tellsMessages?: boolean
  /** The conditions that Events tell of. */
  readonly tells?: readonly string[]
}

/** Versions of one object can be compared as whole numbers (Kubernetes API concepts, "Resource versions", KEP-5504). */
function isNewer(a: KubeObject, b: KubeObject): boolean {
  const [left = '', right = ''] = [a.metadata.resourceVersion, b.metadata.resourceVersion]
  return /^\d+$/.test(left) && /^\d+$/.test(right) && BigInt(left) > BigInt(right)
}

// Looked at on each write; two leave for one that comes, so what is kept shrinks to what the cache has not shown yet.
const looksPerWrite = 2

export function createStatusWriter<S extends Status, T extends Reporting<S>>(deps: StatusWriterDeps<T>): StatusWriter<T> {
  const { type, fieldManager, client, cache, events, onTheWay = [], tellsMessages = false, tells = ['Ready'] } = deps
  const written = new Map<string, T>()

  /** The first ones are the oldest: most of them are in the cache by now, or gone. */
  function forgetOld(): void {
    for (const [uid, own] of written.entries().take(looksPerWrite)) {
      const cached = cache.get(keyOf(own))
      if (cached?.metadata.uid !== uid || !isNewer(own, cached)) written.delete(uid)
    }
  }

  function tell(object: T, status: Status, type: string): void {
    const after = findCondition(status.conditions, type)
    const before = findCondition(object.status?.conditions, type)
    if (after === undefined) return
    const same = before?.reason === after.reason && before.status === after.status
    if (same && (!tellsMessages || before.message === after.message)) return
    const isNormal = after.status === 'True' || onTheWay.includes(after.reason)
    events.record(object, { type: isNormal ? 'Normal' : 'Warning', reason: after.reason, message: after.message })
  }

  return {
    latest(cached) {
      const uid = cached.metadata.uid ?? ''
      const own = written.get(uid)
      if (own && isNewer(own, cached)) return own
      written.delete(uid)
      return cached
    },
    async write(object, status) {
      if (sameJson(object.status, status)) return object
      const { apiVersion, kind } = type
      const { uid } = object.metadata
      const metadata = { ...keyOf(object), ...(uid === undefined ? {} : { uid }) }
      const answered = await client.applyStatus(type, { apiVersion, kind, metadata, status }, { fieldManager, force: true })
      forgetOld()
      if (answered && uid !== undefined) written.set(uid, answered)
      for (const condition of tells) tell(object, status, condition)
      // Not what was answered: it may carry a newer spec than the one this status speaks of.
      return { ...object, status }
    },
  }
}
