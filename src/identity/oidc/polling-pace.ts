// How often a device may poll for its token: RFC 8628 §3.5 demands 5 seconds between requests and `slow_down` for faster ones.
// In memory and bounded: a device that was dropped may poll too fast once more.
const pollingIntervalSeconds = 5

/** Remembers when each device polled last. */
export type PollingPace = {
  /** Records a request of `id`; false when the one before is less than the interval ago. */
  readonly mayPoll: (id: string) => boolean
}

const mostDevices = 10_000
/** Clocks and networks jitter. */
const toleranceMilliseconds = 500

/** The pace of at most 10,000 devices; the least recent ones are dropped. */
export function createPollingPace(now: () => Date): PollingPace {
  const polled = new Map<string, number>()
  return {
    mayPoll(id) {
      const time = now().getTime()
      const before = polled.get(id)
      polled.delete(id)
      polled.set(id, time)
      for (const oldest of polled.keys()) {
        if (polled.size <= mostDevices) break
        polled.delete(oldest)
      }
      return before === undefined || time - before >= pollingIntervalSeconds * 1000 - toleranceMilliseconds
    },
  }
}
