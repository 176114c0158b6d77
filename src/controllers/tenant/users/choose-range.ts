// Which range of user ids a tenant gets. Pure.
import { maxUserRanges } from '../../../lib/limits/user-range.ts'

/** The indexes of ranges by the uid of the Tenant that has them. */
export type TakenRanges = ReadonlyMap<string, number>

/**
 * The index that the Tenant has, else the one after the highest that is taken, so that a range is used again as late as possible: files on volumes
 * that were kept still belong to its ids. Undefined when all are taken.
 * @param others Indexes that namespaces of other Tenants say, whatever the record says.
 */
export function chooseRange(taken: TakenRanges, uid: string, others: Iterable<number>): number | undefined {
  const used = new Set(others)
  const own = taken.get(uid)
  if (own !== undefined && !used.has(own)) return own
  for (const [other, index] of taken) if (other !== uid) used.add(index)
  const next = Math.max(-1, ...used) + 1
  if (next < maxUserRanges) return next
  for (let index = 0; index < maxUserRanges; index += 1) if (!used.has(index)) return index
  return undefined
}
