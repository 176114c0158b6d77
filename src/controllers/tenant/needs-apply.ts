// Does an object of the cluster already say what is wanted? Asked before every apply, so that a second reconcile writes nothing.
// The hash finds every change of what we want, removals too; the comparison finds what others changed. Pure.
import type { KubeObject } from '../../api/resource.ts'
import type { Applied } from '../../kube/client/client.ts'
import { desiredHashAnnotation } from './desired.ts'

export function isAsDesired(live: KubeObject, wanted: Applied): boolean {
  const hash = wanted.metadata.annotations?.[desiredHashAnnotation]
  return live.metadata.annotations?.[desiredHashAnnotation] === hash && contains(live, wanted)
}

/** Every field of `wanted` has its value in `live`; lists are equal item by item. */
function contains(live: unknown, wanted: unknown): boolean {
  if (Object.is(live, wanted)) return true
  if (typeof live !== 'object' || typeof wanted !== 'object' || live === null || wanted === null) return false
  if (Array.isArray(wanted))
    return Array.isArray(live) && live.length === wanted.length && wanted.every((item, index) => contains(live[index], item))
  const present = new Map(Object.entries(live))
  return Object.entries(wanted).every(([key, value]) => value === undefined || contains(present.get(key), value))
}
