// Who may build next: a platform-wide maximum, a maximum for each tenant, and fairness between tenants. Pure.
// Slots are given one by one to the tenant that has the fewest builds (running and just given), then to whoever waits longest: a tenant
// with a hundred waiting builds takes the same turns as a tenant with one.
import type { RunningBuild } from './builder.ts'

export type WaitingBuild = RunningBuild & { readonly since: string }

export type QueueLimits = { readonly platform: number; readonly ofTenant: (tenant: string) => number }

export function buildText(build: RunningBuild): string {
  return `${build.tenant}/${build.name}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The waiting builds that may start now, as `buildText`. */
export function nextBuilds(
  running: readonly RunningBuild[],
  waiting: readonly WaitingBuild[],
  limits: QueueLimits,
): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const countOf = (tenant: string): number => counts.get(tenant) ?? 0
  for (const { tenant } of running) counts.set(tenant, countOf(tenant) + 1)
  const given = new Set<string>()
  for (let free = limits.platform - running.length; free > 0; free--) {
    const [next] = waiting
      .filter(build => !given.has(buildText(build)) && countOf(build.tenant) < limits.ofTenant(build.tenant))
      .sort((a, b) => countOf(a.tenant) - countOf(b.tenant) || compare(a.since, b.since) || compare(buildText(a), buildText(b)))
    if (!next) break
    given.add(buildText(next))
    counts.set(next.tenant, countOf(next.tenant) + 1)
  }
  return given
}

/** Why a build waits, for its owner; it says nothing of other tenants but that they build. */
export function waitingMessage(tenant: string, running: readonly RunningBuild[], limits: QueueLimits): string {
  const own = running.filter(build => build.tenant === tenant).length
  const limit = limits.ofTenant(tenant)
  if (own >= limit) return `${own} builds of this tenant run, its limit is ${limit}: this one starts when one of them ends`
  return `the platform builds at its limit of ${limits.platform}: this build starts when its turn comes`
}
