// Which domains are proved by DNS: looked up in the background, because DNS cannot be watched and a slow server must not hold a
// worker of the controller. One look-up of a tenant at a time and few in all, so that a tenant with many unproved domains waits
// for itself. In memory only: what was proved is kept as a DomainClaim.
import { exponential } from '../../../lib/backoff.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../../lib/clock.ts'
import { createFairLimit } from '../../../lib/limits/fair-limit.ts'
import { createKeyedMutex } from '../../../lib/limits/keyed-mutex.ts'
import type { Challenge, LookUpTexts } from './dns-challenge.ts'

/** What is known about a record, and when to ask again. */
export type ProofState = { readonly kind: 'proven' | 'absent' | 'pending'; readonly requeueAfterMilliseconds: number }

/** Safe for concurrent use. */
export type DomainProofs = {
  /** The result of the last look-up. Starts the next one when it is due: at most every `minMilliseconds`, later less often. */
  readonly stateOf: (challenge: Challenge, tenant: string) => ProofState
}

export type DomainProofsDeps = {
  readonly lookUp: LookUpTexts
  readonly clock: Clock
  /** The pause after the first look-up that found nothing, doubled after each of them. Default 5 s. */
  readonly minMilliseconds?: number
}

type Entry = {
  found: boolean | undefined
  failures: number
  dueAt: number
  waiting: boolean
}

const maxAtOnce = 8
/** Beyond this number what was asked longest ago is forgotten. */
const maxEntries = 20_000
const maxPause = 300_000
const provenPause = 60_000
const pendingPause = 250

// Memory (look-ups of domains): TXT record and tenant → what the last look-up found, and when the next is due
//   life: until it is forgotten or the process ends
//   bound: 20,000, the one asked for longest ago forgotten first; one look-up of a tenant at a time, eight in all
//   freshness: the next look-up
//   replicas: leader only; the next looks up again
/** Does nothing until it is asked. */
export function createDomainProofs({ lookUp, clock, minMilliseconds = 5000 }: DomainProofsDeps): DomainProofs {
  const pauses = { baseMilliseconds: minMilliseconds, capMilliseconds: maxPause }
  const entries = new BoundedMap<Entry>(maxEntries)
  const oneOfTenant = createKeyedMutex()
  const limit = createFairLimit({ concurrency: maxAtOnce, waitingPerKey: 1, waiting: maxEntries })

  async function look({ name, value }: Challenge, entry: Entry): Promise<void> {
    const texts = await lookUp(name)
    entry.found = texts.includes(value)
    entry.failures = entry.found ? 0 : entry.failures + 1
    const pause = entry.found ? provenPause : exponential(pauses, entry.failures - 1)
    entry.dueAt = elapsed(clock) + pause
    entry.waiting = false
  }

  return {
    stateOf(challenge, tenant) {
      const key = `${challenge.name} ${challenge.value}`
      const entry = entries.get(key) ?? { found: undefined, failures: 0, dueAt: 0, waiting: false }
      entries.set(key, entry)
      if (!entry.waiting && entry.dueAt <= elapsed(clock)) {
        entry.waiting = true
        void oneOfTenant.run(tenant, async () => limit.run(tenant, () => look(challenge, entry)))
      }
      const kind = entry.found === undefined ? 'pending' : entry.found ? 'proven' : 'absent'
      return {
        kind,
        requeueAfterMilliseconds: entry.waiting ? pendingPause : Math.max(entry.dueAt - elapsed(clock), pendingPause),
      }
    },
  }
}
