// When an object is looked at again, where several things wait at once.
import { done, type Outcome, requeueAfter } from '../../kube/controller/controller.ts'

/** The shortest of these waits in milliseconds; undefined when nothing waits. */
export function soonest(...waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter(wait => wait !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** What a timer of Node.js can hold: 24.8 days. */
const maxMilliseconds = 2_147_000_000

/** At the soonest, or when a timer ends before it. */
export function requeueAfterSoonest(...waits: readonly (number | undefined)[]): Outcome {
  const wait = soonest(...waits)
  return wait === undefined ? done : requeueAfter(Math.min(wait, maxMilliseconds))
}
