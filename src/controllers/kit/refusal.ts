// Why a controller cannot go on: one shape for all kinds. Pure.
import type { Outcome } from '../../kube/controller/controller.ts'
import type { Refusal as Decision } from '../../policy/check.ts'
import { requeueAfterSoonest } from './soonest.ts'

export type Refusal = Decision & {
  /** Set where nothing wakes the controller when the cause goes away. */
  readonly requeueAfterMilliseconds?: number | undefined
  /** Set when a retry may help: it is thrown after the status is written, so that the retries back off. */
  readonly error?: unknown
}

/** The soonest of all waits. @throws the error of the refusal */
export function outcomeOf(refusal: Refusal | undefined, ...waits: readonly (number | undefined)[]): Outcome {
  if (refusal?.error !== undefined) throw refusal.error
  return requeueAfterSoonest(refusal?.requeueAfterMilliseconds, ...waits)
}
