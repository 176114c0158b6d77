// GitHub did not answer: the fact that controllers gather instead of throwing, and when they retry. Pure; knows no kind.
import { isAppError, messageOf } from '../lib/errors.ts'

/** Says nothing about the object: how long an earlier confirmation counts is the controller's decision. */
export type Unreachable = {
  readonly kind: 'unreachable'
  readonly message: string
  /** The pause that GitHub asked for, or the platform's own pace. */
  readonly retryAfterSeconds: number | undefined
}

const unaskedMilliseconds = 30_000
const leastMilliseconds = 1000
const longestMilliseconds = 3_600_000

/** `error` is what a call to GitHub, or a step before it, threw. */
export function unreachable(error: unknown): Unreachable {
  const retryAfterSeconds = isAppError(error) ? error.retryAfterSeconds : undefined
  return { kind: 'unreachable', message: messageOf(error), retryAfterSeconds }
}

/** Nothing wakes a controller when GitHub answers again: wait as long as was asked for, at most an hour, and `unasked` when nobody did. */
export function retryMilliseconds({ retryAfterSeconds }: Unreachable, unasked = unaskedMilliseconds): number {
  if (retryAfterSeconds === undefined) return unasked
  return Math.min(Math.max(leastMilliseconds, retryAfterSeconds * 1000), longestMilliseconds)
}
