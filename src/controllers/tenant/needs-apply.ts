// Whether a live object differs from what a Tenant wants. Asked before every apply, so that a second reconcile writes nothing.
// Pure. The hash annotation finds every change of what is wanted, removals included; the comparison finds what others changed.
// Stricter than the one for Applications: an item that somebody added to a list, such as a subject of a RoleBinding, is a
// difference here.
import type { KubeObject } from '../../api/resource.ts'
import type { Applied } from '../../kube/client/client.ts'
import { desiredHashAnnotation } from './desired.ts'

/** True when applying `wanted` would change the object. */
export function needsApply(wanted: Applied, live: KubeObject): boolean {
  const hash = wanted.metadata.annotations?.[desiredHashAnnotation]
  return live.metadata.annotations?.[desiredHashAnnotation] !== hash || !contains(live, wanted)
}

/** Whether every field of `wanted` has its value in `live`; lists must be equal item by item. */
function contains(live: unknown, wanted: unknown): boolean {
  if (Object.is(live, wanted)) return true
  if (typeof live !== 'object' || typeof wanted !== 'object' || live === null || wanted === null) return false
  if (Array.isArray(wanted))
    return Array.isArray(live) && live.length === wanted.length && wanted.every((item, index) => contains(live[index], item))
  const present = new Map(Object.entries(live))
  return Object.entries(wanted).every(([key, value]) => value === undefined || contains(present.get(key), value))
}
