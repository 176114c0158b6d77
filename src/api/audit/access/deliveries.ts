// Who received tokens, from the records of deliveries: equal ones together. Pure.
import { asObject, integerAt, objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { LogEntry } from './log-entry.ts'

/** The deliveries to one pod, or to one part of the platform, under one grant. */
export type Delivered = {
  readonly who: string
  readonly pod: string | undefined
  readonly address: string | undefined
  readonly grant: string
  readonly person: string
  readonly login: string | undefined
  readonly times: number
  readonly first: string
  readonly last: string
}

/** As many groups as are kept apart; what comes after them is counted in `left`. */
const maxGroups = 10_000

export type Deliveries = { readonly add: (entry: LogEntry) => void; readonly groups: () => readonly Delivered[]; left: number }

/** Collects entries in the order of the log. */
export function collectDeliveries(): Deliveries {
  const groups = new Map<string, Delivered>()
  return {
    left: 0,
    add(entry) {
      if (textAt(entry, 'action') !== 'token.delivered') return
      const one = deliveryIn(entry)
      const key = JSON.stringify([one.who, one.pod, one.grant, one.person])
      const before = groups.get(key)
      if (before === undefined && groups.size >= maxGroups) this.left += one.times
      else groups.set(key, before === undefined ? one : { ...before, times: before.times + one.times, last: one.last })
    },
    groups: () => [...groups.values()],
  }
}

/** What one record of a delivery says. */
export function deliveryIn(entry: LogEntry): Delivered {
  const details = asObject(entry['details'])
  const at = textAt(entry, 'at') ?? ''
  return {
    who: textAt(entry, 'actor') ?? '',
    pod: textAt(objectAt(details, 'pod'), 'name'),
    address: textAt(details, 'address'),
    grant: (textAt(entry, 'object') ?? '').replace(/^RepositoryGrant\//, ''),
    person: textAt(details, 'person') ?? '',
    login: textAt(details, 'login'),
    times: integerAt(details, 'count') ?? 1,
    first: at,
    last: textAt(details, 'until') ?? at,
  }
}
