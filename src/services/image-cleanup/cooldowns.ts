// Registries that do not delete: some answer that they never do, some that this account may not. Each is reported once, and
// then left alone for a day: the registry as a whole, or the part of one tenant.
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Removal } from './registry-images.ts'

export type Cooldowns = {
  /** Whether nothing is to be deleted there now. */
  readonly isCoolingDown: (namespace: string) => boolean
  readonly refused: (refusal: Extract<Removal, { readonly kind: 'refused' }>, namespace: string) => void
  /** A deletion succeeded there: what is refused later is reported again. */
  readonly deleted: (namespace: string) => void
}

const cooldownMilliseconds = 86_400_000
const maxCooldowns = 10_000
const whole = ''

// Memory (what the registry refused): the registry, or the part of a tenant → when a deletion is tried again (ADR 0045)
//   life: a day
//   bound: 10,000, the oldest forgotten first
//   freshness: a deletion that succeeds
//   replicas: leader only; the next tries once
/** `observe` gets the number of parts of the registry that rest. */
export function createCooldowns({
  clock,
  log,
  observe,
}: {
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
  readonly observe: (resting: number) => void
}): Cooldowns {
  const cooldowns = new BoundedMap<{ readonly until: number; readonly status: number }>(maxCooldowns)
  return {
    isCoolingDown: namespace => {
      const now = clock.now().getTime()
      return [whole, namespace].some(part => (cooldowns.get(part)?.until ?? 0) > now)
    },
    refused({ status, byRegistry }, namespace) {
      const part = byRegistry ? whole : namespace
      const known = cooldowns.get(part)?.status
      cooldowns.set(part, { until: clock.now().getTime() + cooldownMilliseconds, status })
      observe(cooldowns.size)
      if (known === status) return
      const cure = byRegistry
        ? 'allow it (distribution: storage.delete.enabled), or set a retention rule there and SEKISHO_UNUSED_IMAGE_HOURS=0'
        : 'give the account of the tenant the right to delete, or set SEKISHO_UNUSED_IMAGE_HOURS=0'
      const fields = { status, ...(byRegistry ? {} : { namespace }) }
      log.error(fields, `the registry refuses to delete images that nothing uses, and is not asked again for a day: ${cure}`)
    },
    deleted(namespace) {
      const ended = [whole, namespace].map(part => cooldowns.delete(part)).includes(true)
      if (ended) observe(cooldowns.size)
    },
  }
}
