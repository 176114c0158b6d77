// Who may start next of those that share a limited number of places: a limit for all, a limit for each tenant, and fairness
// between tenants. Pure. Places go one by one to the tenant with the fewest (in use and just given), then to whoever has waited
// longest: a tenant with a hundred waiting gets the same turns as a tenant with one.
import { compareText } from '../../../lib/text/compare-text.ts'

/** Something that occupies a place, or wants to. */
export type Sharer = { readonly tenant: string; readonly name: string }

export type WaitingSharer = Sharer & {
  /** Texts in the order of time, such as RFC 3339. */
  readonly since: string
  /** Places that the tenant may have at once. */
  readonly tenantLimit: number
}

/** Identifies a sharer among those of all tenants. */
export function sharerText(sharer: Sharer): string {
  return `${sharer.tenant}/${sharer.name}`
}

/** The order of those who wait, within one tenant. */
export function byTurn(a: WaitingSharer, b: WaitingSharer): number {
  return compareText(a.since, b.since) || compareText(sharerText(a), sharerText(b))
}

/** Those that may start now, as `sharerText`. No limit is exceeded, and no place that one of `waiting` may take stays free. */
export function nextTurns(running: readonly Sharer[], waiting: readonly WaitingSharer[], limit: number): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const countOf = (tenant: string): number => counts.get(tenant) ?? 0
  for (const { tenant } of running) counts.set(tenant, countOf(tenant) + 1)
  const admitted = new Set<string>()
  for (let free = limit - running.length; free > 0; free--) {
    const [next] = waiting
      .filter(sharer => !admitted.has(sharerText(sharer)) && countOf(sharer.tenant) < sharer.tenantLimit)
      .sort((a, b) => countOf(a.tenant) - countOf(b.tenant) || byTurn(a, b))
    if (!next) break
    admitted.add(sharerText(next))
    counts.set(next.tenant, countOf(next.tenant) + 1)
  }
  return admitted
}
