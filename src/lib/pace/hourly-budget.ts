// A share of an hourly limit for work that may wait, by key: at most so many per hour, evenly spread, with a small burst. In memory: a process that
// starts has its burst again.
import { BoundedMap } from '../bounded-map.ts'
import type { Clock } from '../clock.ts'

const mostKeys = 1000
/** A twentieth of the hour's share may be used at once. */
const burstShare = 1 / 20
const hour = 3_600_000

export type HourlyBudget = {
  readonly perHour: number
  /** Uses one; false when nothing is left now. */
  readonly take: (key: string) => boolean
}

/** Every key begins with a whole burst. */
export function createHourlyBudget({ perHour, clock }: { readonly perHour: number; readonly clock: Clock }): HourlyBudget {
  const burst = Math.max(1, perHour * burstShare)
  const left = new BoundedMap<{ readonly amount: number; readonly at: number }>(mostKeys)
  return {
    perHour,
    take(key) {
      const at = clock.now().getTime()
      const before = left.get(key) ?? { amount: burst, at }
      // A clock that was set back refills nothing.
      const amount = Math.min(burst, before.amount + (Math.max(0, at - before.at) * perHour) / hour)
      left.set(key, { amount: amount < 1 ? amount : amount - 1, at })
      return amount >= 1
    },
  }
}
