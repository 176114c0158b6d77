// How often a device may poll for its token: RFC 8628 §3.5 demands 5 seconds between requests and `slow_down` for faster ones.
// Counted outside this process: a device that polls two replicas in turns must not poll twice as often.
import { createHash } from 'node:crypto'

const pollingIntervalMilliseconds = 5000
/** Clocks and networks jitter. */
const toleranceMilliseconds = 500

/** Counts the attempts of a name in a window that begins with the first; the same for every replica. */
export type CountAttempt = (name: string, windowMilliseconds: number) => Promise<number>

/** Says how often each device may poll. */
export type PollingPace = {
  /** Records a request with this device code; false when another one was allowed less than the interval ago. */
  readonly mayPoll: (deviceCode: string) => Promise<boolean>
}

/** The code is a bearer value: only its hash is counted. */
export function createPollingPace(count: CountAttempt): PollingPace {
  return {
    async mayPoll(deviceCode) {
      const name = `device-code ${createHash('sha256').update(deviceCode).digest('base64url')}`
      return (await count(name, pollingIntervalMilliseconds - toleranceMilliseconds)) === 1
    },
  }
}
