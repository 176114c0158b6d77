// Which queued builds may start: a limit for the platform, a limit for each tenant, and fairness between tenants. Pure.
// Slots go one by one to the tenant with the fewest builds (running and just admitted), then to the build that has waited longest: a tenant
// with a hundred queued builds gets the same turns as a tenant with one.
import type { RunningBuild } from './builder.ts'

export type QueuedBuild = RunningBuild & {
  /** When the commit was resolved (RFC 3339). */
  readonly since: string
  /** Builds that the tenant may run at once, as its Tenant said when the build was queued last. */
  readonly tenantLimit: number
}

/** Identifies a build among all tenants. */
export function buildText(build: RunningBuild): string {
  return `${build.tenant}/${build.name}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The queued builds that may start now, as `buildText`. No limit is exceeded, and no slot that a queued build may take stays free. */
export function nextBuilds(
  running: readonly RunningBuild[],
  queued: readonly QueuedBuild[],
  platformLimit: number,
): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const countOf = (tenant: string): number => counts.get(tenant) ?? 0
  for (const { tenant } of running) counts.set(tenant, countOf(tenant) + 1)
  const admitted = new Set<string>()
  for (let free = platformLimit - running.length; free > 0; free--) {
    const [next] = queued
      .filter(build => !admitted.has(buildText(build)) && countOf(build.tenant) < build.tenantLimit)
      .sort((a, b) => countOf(a.tenant) - countOf(b.tenant) || compare(a.since, b.since) || compare(buildText(a), buildText(b)))
    if (!next) break
    admitted.add(buildText(next))
    counts.set(next.tenant, countOf(next.tenant) + 1)
  }
  return admitted
}

/** Tells the owner why a build is queued. About other tenants it reveals only that they build. */
export function queuedMessage(build: QueuedBuild, running: readonly RunningBuild[], platformLimit: number): string {
  const own = running.filter(({ tenant }) => tenant === build.tenant).length
  return own >= build.tenantLimit
    ? `${own} of at most ${build.tenantLimit} builds of this tenant are running: this build starts when one of them ends`
    : `all ${platformLimit} build slots of the platform are in use: this build starts when its turn comes`
}
