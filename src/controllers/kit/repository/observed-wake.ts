// The wake annotation as controllers remember it: the broker sets it when a webhook concerns an object, and a status records
// which one it saw.
import { wakeAnnotation } from '../../../api/names.ts'
import type { KubeObject } from '../../../api/resource.ts'

/** The bound of `status.observedWake` and `status.handledWake`. */
const maxWake = 512

/** The object's wake annotation, cut to what a status can hold; undefined when there is none or it is empty. */
export function wakeOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[wakeAnnotation]?.slice(0, maxWake) || undefined
}
