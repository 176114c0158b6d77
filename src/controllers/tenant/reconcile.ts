// Keeps a Tenant's namespaces and their contents. When the Tenant is deleted, tokens end first, then the namespaces, then the
// finalizer.
import { namespaces } from '../../api/builtin/index.ts'
import { type Tenant, tenant as tenants } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Enforcement } from '../../services/network-probe/enforcement.ts'
import type { TenantRegistry } from '../../services/registry/tenant-registry.ts'
import type { TokenDesk } from '../../services/token-desk/token-desk.ts'
import type { WallRecord } from '../../services/wall-probe/record.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { InStep } from '../kit/in-step.ts'
import { reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import { soonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { type FillDeps, fillNamespaces } from './contents/fill-namespaces.ts'
import { decide } from './decide.ts'
import { type EndDeps, endNamespaces } from './end/end-namespaces.ts'
import { gather } from './gather.ts'
import { recordTenantChange, recordTenantEnd } from './record-tenant.ts'
import { keepRights, leaving, releaseRights } from './rights/platform-rights.ts'
import { heldStatus, nextStatus } from './status.ts'
import { checkTeams, type TeamCheckDeps } from './teams/check-teams.ts'
import { nextTeamCheckMilliseconds } from './teams/decide-teams.ts'

export type TenantDeps = TeamCheckDeps &
  FillDeps &
  Pick<EndDeps, 'events'> & {
    readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'apply' | 'mergePatch' | 'delete'>
    readonly tenants: Pick<Cache<Tenant>, 'get'>
    readonly registry: TenantRegistry
    readonly desk: Pick<TokenDesk, 'revokeBy'>
    readonly audit: Pick<AuditLog, 'appendOnce' | 'list'>
    readonly inStep: InStep
    /** What the probe recorded last about the enforcement of network policies. */
    readonly enforcement: () => Enforcement
    /** What the probe of the walls recorded last. */
    readonly walls: () => WallRecord | undefined
    readonly status: StatusWriter<Tenant>
  }

const deletionRetryMilliseconds = 3_000
const rotationSlackMilliseconds = 1_000
/** How often every Tenant is looked at again without a reason. */
const resyncMilliseconds = 600_000

/** Idempotent. The finalizer is set before the namespaces are created. */
export function reconcileTenant(deps: TenantDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, status } = deps
  const kind = { type: tenants, finalizer: 'sekisho.dev/tenant', client, cache: deps.tenants, status }
  return reconcileWithFinalizer({ ...kind, keep: tenant => keep(deps, tenant), end: tenant => end(deps, tenant) }, context)
}

async function keep(deps: TenantDeps, tenant: Tenant): Promise<Outcome> {
  await recordTenantChange(deps.audit, deps.inStep, tenant)
  const facts = await gather(deps, tenant)
  const held = await endNamespaces(deps, tenant, leaving(facts))
  const decision = decide(facts, held)
  await releaseRights(deps, facts)
  const result = decision.kind === 'fill' ? await fillNamespaces(deps, facts) : decision
  // After the namespaces: they must not wait for GitHub.
  const teams = await checkTeams(deps, tenant)
  const installations = deps.installationsIn(tenant.spec.namespace)
  const observed = { decision: result, teams, enforcement: deps.enforcement(), walls: deps.walls(), installations }
  await deps.status.write(tenant, nextStatus(tenant, observed, deps.clock.now()))
  const retry = result.kind === 'refused' ? result.requeueAfterMilliseconds : undefined
  const rotation = deps.registry.nextRotationMilliseconds()
  // New credentials have to be written within a day of the end of their period.
  const untilRotated = rotation === undefined ? undefined : rotation + rotationSlackMilliseconds
  const next = retry ?? soonest(nextTeamCheckMilliseconds(teams), untilRotated)
  // What is further away is found by the resync, which a requeue would replace.
  return next === undefined || next >= resyncMilliseconds ? done : requeueAfter(next)
}

async function end(deps: TenantDeps, tenant: Tenant): Promise<Outcome | undefined> {
  const facts = await gather(deps, tenant)
  const ours = facts.namespaces.filter(({ state }) => state === 'ours' || state === 'terminating')
  for (const { name } of ours) await deps.desk.revokeBy({ namespace: name }, 'the tenant was deleted')
  const held = await endNamespaces(deps, tenant, leaving(facts))
  if (held !== undefined) await deps.status.write(tenant, heldStatus(tenant, held, deps.clock.now()))
  await releaseRights(deps, facts)
  for (const { name, object } of ours.filter(({ state }) => state === 'ours')) {
    await keepRights(deps, tenant, name)
    const uid = object?.metadata.uid
    await deps.client.delete(namespaces, { name }, defined({ uid }))
  }
  if (ours.length > 0) return requeueAfter(deletionRetryMilliseconds)
  await deps.userRanges.release(tenant)
  await recordTenantEnd(deps.audit, tenant)
  return undefined
}
