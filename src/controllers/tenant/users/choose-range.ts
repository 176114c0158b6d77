// Which range of user ids a tenant gets. Pure.
import { maxUserRanges } from '../../../lib/limits/user-range.ts'

export type RecordedRanges = {
  /** The indexes of ranges by the uid of the Tenant that has them. */
  readonly taken: ReadonlyMap<string, number>
  /** The index that was given last, also when its Tenant has ended; undefined when that was not recorded. */
  readonly last: number | undefined
}

/**
 * The index that the Tenant has, else the next one in turn after the last that was given, so that a range is used again as late
 * as possible: files on volumes that were kept still belong to its ids. Undefined when all are taken.
 * @param others Indexes that namespaces of other Tenants say, whatever the record says.
 */
export function chooseRange({ taken, last }: RecordedRanges, uid: string, others: Iterable<number>): number | undefined {
  const used = new Set(others)
  const own = taken.get(uid)
  if (own !== undefined && !used.has(own)) return own
  for (const [other, index] of taken) if (other !== uid) used.add(index)
  const start = 1 + (last ?? Math.max(-1, ...used))
  for (let offset = 0; offset < maxUserRanges; offset += 1) {
    const index = (start + offset) % maxUserRanges
    if (!used.has(index)) return index
  }
  return undefined
}
