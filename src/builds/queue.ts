// What a queued build is, and what its owner reads about its place in the queue. Which ones may start is `nextTurns` in src/policy/fair-share.ts.
import type { WaitingSharer } from '../policy/fair-share.ts'
import type { RunningBuild } from './builder.ts'

/** `since`: when the commit was resolved (RFC 3339). `tenantLimit`: as its Tenant said when the build was queued last. */
export type QueuedBuild = RunningBuild & WaitingSharer

/** Says why a build is queued. About other tenants it reveals only that they build. */
export function queuedMessage(build: QueuedBuild, running: readonly RunningBuild[], platformLimit: number): string {
  const own = running.filter(({ tenant }) => tenant === build.tenant).length
  return own >= build.tenantLimit
    ? `${own} of at most ${build.tenantLimit} builds of this tenant are running: this build starts when one of them ends`
    : `all ${platformLimit} build slots of the platform are in use: this build starts when its turn comes`
}
