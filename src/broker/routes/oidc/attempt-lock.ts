// Counts attempts per person in a window of time and refuses further ones above a bound, on all replicas together.
import type { Attempts } from '../../../store/database/attempts.ts'

export type AttemptLock = {
  /**
   * Counts one attempt; false when the person has none left in this window. Rejects when the store does not answer: then
   * nothing is allowed.
   */
  readonly tryAgain: (subject: string) => Promise<boolean>
}

/** Allows `most` attempts in each window, which begins with a person's first attempt. `what` names the attempts. */
export function createAttemptLock(options: {
  readonly attempts: Pick<Attempts, 'count'>
  readonly what: string
  readonly most: number
  readonly windowMilliseconds: number
}): AttemptLock {
  const { attempts, what, most, windowMilliseconds } = options
  return { tryAgain: async subject => (await attempts.count(`${what} ${subject}`, windowMilliseconds)) <= most }
}
