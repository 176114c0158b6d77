// What the controllers know of the objects of tenants, as numbers. Every replica has the same caches and reports the same.
// Labels are closed lists: never the name of an object.
import { Counter, Gauge, type Registry } from 'prom-client'
import type { GrantApproval } from '../api/github/grant-approval.ts'
import { grantDecisions, type RepositoryGrant } from '../api/github/repository-grant.ts'
import type { Tenant } from '../api/tenancy/tenant.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import { findCondition } from '../kube/object/conditions.ts'
import { isBreakGlass } from '../policy/grants/approvals.ts'
import type { BuildCounts } from '../services/builds/limits/build-limiter.ts'

export type CountedObjects = {
  readonly tenants: Pick<Cache<Tenant>, 'list'>
  readonly grants: Pick<Cache<RepositoryGrant>, 'list'>
  readonly approvals: Pick<Cache<GrantApproval>, 'list'>
}

const decisions = [...grantDecisions, 'Undecided'] as const
const answers = ['true', 'false'] as const

/** Call once per registry. Everything is counted at each scrape. */
export function createObjectMetrics(registry: Registry, { tenants, grants, approvals }: CountedObjects): void {
  const registers = [registry]
  new Gauge({
    name: 'sekisho_tenants',
    help: 'Tenants, by whether their condition Ready is True. Every replica reports the same.',
    labelNames: ['ready'],
    registers,
    collect() {
      for (const ready of answers) this.set({ ready }, 0)
      for (const { status } of tenants.list()) this.inc({ ready: isReady(status) })
    },
  })
  new Gauge({
    name: 'sekisho_grants',
    help: 'RepositoryGrants by decision, and by whether their condition Ready is True. Every replica reports the same.',
    labelNames: ['decision', 'ready'],
    registers,
    collect() {
      for (const decision of decisions) for (const ready of answers) this.set({ decision, ready }, 0)
      for (const { status } of grants.list()) this.inc({ decision: status?.decision ?? 'Undecided', ready: isReady(status) })
    },
  })
  new Gauge({
    name: 'sekisho_break_glass_approvals',
    help: 'GrantApprovals by which a platform admin lifts the need for approvals in an emergency and that count now. Every replica reports the same.',
    registers,
    collect() {
      this.set(approvals.list().filter(approval => isBreakGlass(approval) && isReady(approval.status) === 'true').length)
    },
  })
}

/**
 * Call once per registry. What is counted stands, also when the approval is withdrawn before the next scrape; the leader counts.
 */
export function createBreakGlassCounter(registry: Registry): () => void {
  const counter = new Counter({
    name: 'sekisho_break_glass_total',
    help: 'Decisions by which break-glass of a platform admin approved a grant. Counted by the leader, since its start.',
    registers: [registry],
  })
  return () => counter.inc()
}

/** Call once per registry. `count` is called at each scrape. */
export function createBuildMetrics(registry: Registry, count: () => BuildCounts): void {
  new Gauge({
    name: 'sekisho_builds',
    help: 'Builds that run, and builds that wait for a slot: those that wait are known to the leader only.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { running, queued } = count()
      this.set({ state: 'running' }, running)
      this.set({ state: 'queued' }, queued)
    },
  })
}

function isReady(status: GrantApproval['status'] | RepositoryGrant['status'] | Tenant['status']): (typeof answers)[number] {
  return findCondition(status?.conditions, 'Ready')?.status === 'True' ? 'true' : 'false'
}
