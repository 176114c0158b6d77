// GitHub did not answer: the fact that controllers gather instead of throwing, and when they retry. Pure; knows no kind.
import { githubReasons } from '../../github/index.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'

/** Says nothing about the object: how long an earlier confirmation counts is the controller's decision. */
export type Unreachable = {
  readonly kind: 'unreachable'
  readonly message: string
  /** The pause that GitHub asked for, or the platform's own pace. */
  readonly retryAfterSeconds: number | undefined
  /** GitHub was not asked: the platform spaces its requests. */
  readonly isPaced?: boolean
}

/**
 * While nobody asked for a pause, and where a shorter one was asked for: however often GitHub asks for a second, it is not
 * asked each second.
 */
const shortestMilliseconds = { unasked: 30_000, asked: 10_000 }
const maxMilliseconds = 3_600_000

/** `error` is what a call to GitHub, or a step before it, threw. */
export function unreachable(error: unknown): Unreachable {
  const retryAfterSeconds = isAppError(error) ? error.retryAfterSeconds : undefined
  return { kind: 'unreachable', message: messageOf(error), retryAfterSeconds, isPaced: isPaced(error) }
}

/** The platform's own pace, or the quota of a tenant, and no limit of GitHub. */
export function isPaced(error: unknown): boolean {
  return isAppError(error, 'too_many_requests') && error.reason !== githubReasons.rateLimited
}

/**
 * Nothing wakes a controller when GitHub answers again: wait as long as was asked for, at least `shortest` and at most an hour.
 */
export function retryMilliseconds({ retryAfterSeconds }: Unreachable, shortest?: number): number {
  const least = shortest ?? shortestMilliseconds[retryAfterSeconds === undefined ? 'unasked' : 'asked']
  return Math.min(Math.max(least, (retryAfterSeconds ?? 0) * 1000), maxMilliseconds)
}
