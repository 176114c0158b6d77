// Counts attempts per person in a window of time and refuses further ones above a bound. In memory: a second process allows as many again, which
// the entropy of the guessed code (34 bits, ten minutes) makes harmless. Bounded: the person whose attempt is oldest is forgotten first.
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'

export type AttemptLock = {
  /** Counts one attempt; false when the person has none left in this window. */
  readonly tryAgain: (subject: string) => boolean
}

const mostPeople = 10_000

/** Allows `most` attempts in each window, which begins with a person's first attempt. */
export function createAttemptLock(options: {
  readonly clock: Clock
  readonly most: number
  readonly windowMilliseconds: number
}): AttemptLock {
  const attempts = new BoundedMap<{ count: number; readonly since: number }>(mostPeople)
  return {
    tryAgain(subject) {
      const now = options.clock.now().getTime()
      const known = attempts.get(subject)
      const current = known !== undefined && now - known.since < options.windowMilliseconds ? known : { count: 0, since: now }
      current.count += 1
      attempts.set(subject, current)
      return current.count <= options.most
    },
  }
}
