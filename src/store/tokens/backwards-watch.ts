// Notices a clock that was set back: how long tokens still live is unknown then.
import type { Clock } from '../../lib/clock.ts'

/** A smaller step of the clock is time synchronisation. */
export const toleratedStepMilliseconds = 30_000

/** Returns true once for each time that the clock is more than the tolerance behind a time it has shown before. */
export function createBackwardsWatch(clock: Clock): () => boolean {
  let latest = clock.now().getTime()
  return () => {
    const now = clock.now().getTime()
    const steppedBack = now < latest - toleratedStepMilliseconds
    latest = steppedBack ? now : Math.max(latest, now)
    return steppedBack
  }
}
