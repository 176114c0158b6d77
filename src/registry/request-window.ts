// Counts requests per client in windows of a minute, for limits that hold for one client and touch no other. In memory, bounded.
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'

const windowMilliseconds = 60_000
const mostClients = 10_000

/** Counts one request of the client. True while it stays within `most` requests per minute. */
export type RequestWindow = (client: string) => boolean

export function createRequestWindow(most: number, clock: Clock): RequestWindow {
  const windows = new BoundedMap<{ readonly until: number; count: number }>(mostClients)
  return client => {
    const now = clock.now().getTime()
    const found = windows.get(client)
    if (found === undefined || now >= found.until) {
      windows.set(client, { until: now + windowMilliseconds, count: 1 })
      return most >= 1
    }
    found.count += 1
    return found.count <= most
  }
}
