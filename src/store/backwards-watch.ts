// Notices that the clock was set back: whatever was judged "still valid for a while" by it may be over by now. Owns the latest moment seen
// in this process; what follows from a step back is its user's business.
import type { Clock } from '../lib/clock.ts'

/** Smaller steps are time synchronisation at work. */
export const toleratedStepMilliseconds = 30_000

/** True once for each time the clock is found more than the tolerance behind a moment it has shown before. */
export function createBackwardsWatch(clock: Clock): () => boolean {
  let latest = clock.now().getTime()
  return () => {
    const now = clock.now().getTime()
    const steppedBack = now < latest - toleratedStepMilliseconds
    latest = steppedBack ? now : Math.max(latest, now)
    return steppedBack
  }
}
