// GitHub did not answer: the fact that controllers gather instead of throwing, and when they retry. Pure; knows no kind.
import { isAppError, messageOf } from '../lib/errors.ts'

/** Says nothing about the object: how long an earlier confirmation counts is the controller's decision. */
export type Unreachable = {
  readonly kind: 'unreachable'
  readonly message: string
  /** The pause that GitHub asked for. */
  readonly retryAfterSeconds: number | undefined
}

const shortestMilliseconds = 30_000
const longestMilliseconds = 3_600_000

/** `error` is what a call to GitHub, or a step before it, threw. */
export function unreachable(error: unknown): Unreachable {
  const retryAfterSeconds = isAppError(error) ? error.retryAfterSeconds : undefined
  return { kind: 'unreachable', message: messageOf(error), retryAfterSeconds }
}

/** Nothing wakes a controller when GitHub answers again: wait as long as GitHub asks, at least `shortest` and at most an hour. */
export function retryMilliseconds({ retryAfterSeconds = 0 }: Unreachable, shortest = shortestMilliseconds): number {
  return Math.min(Math.max(shortest, retryAfterSeconds * 1000), longestMilliseconds)
}
