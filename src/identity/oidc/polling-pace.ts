// How often a device may ask whether its person has agreed: RFC 8628 §3.5 tells it to wait 5 seconds. Faster is answered `slow_down`.
// In memory, bounded: what is forgotten is asked for too often at most once more.
export const pollingIntervalSeconds = 5

export type PollingPace = {
  /** Notes that `id` asked; false when it asked less than the interval ago. */
  readonly mayAsk: (id: string) => boolean
}

const mostDevices = 10_000
/** Clocks and networks jitter. */
const toleranceMilliseconds = 500

export function createPollingPace(now: () => Date): PollingPace {
  const asked = new Map<string, number>()
  return {
    mayAsk(id) {
      const moment = now().getTime()
      const before = asked.get(id)
      asked.delete(id)
      asked.set(id, moment)
      for (const oldest of asked.keys()) {
        if (asked.size <= mostDevices) break
        asked.delete(oldest)
      }
      return before === undefined || moment - before >= pollingIntervalSeconds * 1000 - toleranceMilliseconds
    },
  }
}
