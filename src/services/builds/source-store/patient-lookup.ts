// Waits for a source that is not there yet. After a change of the leader, builds that had not read their source meet a replica
// that still fetches it again, and git does not try a second time: an answer that comes late is as good as one at once, and 404
// ends the build. An unknown address costs a waiting place for a while, never work: places are few, in all and for each client,
// and who finds none is answered at once.
import { type Clock, elapsed } from '../../../lib/clock.ts'

/** Resolves to undefined when the source did not appear in time. The signal ends the wait: the client has left. */
export type PatientLookup = (secret: string, client: string, signal: AbortSignal) => Promise<string | undefined>

export type PatientLookupDeps = {
  /** As `SourceStore.lookup`. */
  readonly lookup: (secret: string) => Promise<string | undefined>
  readonly patienceMilliseconds: number
  readonly clock: Clock
}

/** A new leader fetches what running builds need as soon as it has listed them; a large commit takes some seconds. */
export const usualPatienceMilliseconds = 15_000
const pollMilliseconds = 500
const maxWaiting = 128
/** Build pods have one connection or two each. */
const maxWaitingOfClient = 4

// Memory (look-ups of sources that wait): client → how many of its look-ups wait for a source that is not there yet
//   life: 15 s at most
//   bound: 128, of one client 4
//   freshness: the source; the client leaves
//   replicas: the store runs beside the leader; the next begins without
/** Nobody waits at first. */
export function createPatientLookup({ lookup, patienceMilliseconds, clock }: PatientLookupDeps): PatientLookup {
  const waiting = new Map<string, number>()
  let all = 0

  async function wait(secret: string, signal: AbortSignal): Promise<string | undefined> {
    const until = elapsed(clock) + patienceMilliseconds
    while (!signal.aborted && elapsed(clock) < until) {
      // Ends early when the client leaves.
      await clock.sleep(pollMilliseconds, signal).catch(() => undefined)
      const found = await lookup(secret)
      if (found !== undefined) return found
    }
    return undefined
  }

  return async (secret, client, signal) => {
    const found = await lookup(secret)
    const ofClient = waiting.get(client) ?? 0
    if (found !== undefined || all >= maxWaiting || ofClient >= maxWaitingOfClient) return found
    all += 1
    waiting.set(client, ofClient + 1)
    try {
      return await wait(secret, signal)
    } finally {
      all -= 1
      const left = (waiting.get(client) ?? 1) - 1
      if (left > 0) waiting.set(client, left)
      else waiting.delete(client)
    }
  }
}
