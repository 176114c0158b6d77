// When an object is looked at again, where several things wait at once.
import { done, type Outcome, requeueAfter } from '../../kube/controller/controller.ts'

/** The shortest of these waits in milliseconds; undefined when nothing waits. */
export function soonest(...waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter(wait => wait !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

export function requeueAfterSoonest(...waits: readonly (number | undefined)[]): Outcome {
  const wait = soonest(...waits)
  return wait === undefined ? done : requeueAfter(wait)
}
