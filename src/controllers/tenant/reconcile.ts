// Keeps a Tenant's namespaces and what stands in them. The only file here that writes. It never adopts a namespace: new ones are created,
// not applied, and existing ones are changed by their uid. At the end tokens go first, then the namespaces, then the finalizer.

import { namespaces, type ResourceQuota, resourceQuotas, roleBindings } from '../../api/builtin/index.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts'
import { keyOf } from '../../api/resource.ts'
import { type Tenant, tenantReasons, tenant as tenants } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Applied, KubeClient } from '../../kube/client/client.ts'
import { isGone, isKubeError } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { addFinalizer, removeFinalizer } from '../../kube/object/finalizers.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import type { StatusWriter } from '../status-writer.ts'
import { decide, isCounted, quotaPending, takenMessage, type Verdict } from './decide.ts'
import { type DesiredObject, desiredContents, desiredNamespaces } from './desired.ts'
import { type Facts, gather } from './gather.ts'
import { isAsDesired } from './needs-apply.ts'
import { bindingNames } from './role-bindings.ts'
import type { TenantSettings } from './settings.ts'
import { nextStatus } from './status.ts'
import { checkTeams, type TeamCheckDeps } from './teams/check-teams.ts'
import { nextTeamCheckMilliseconds } from './teams/decide-teams.ts'

/** The part of the token desk that ends tokens. */
export type TokenRevoker = {
  readonly revokeBy: (filter: { readonly namespace: string }, reason: string) => Promise<unknown>
}

export type TenantDeps = TeamCheckDeps & {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'apply' | 'mergePatch' | 'delete'>
  readonly tenants: Pick<Cache<Tenant>, 'get'>
  /** What stands there already, of the kinds we make. */
  readonly live: (type: ResourceType) => Pick<Cache<KubeObject>, 'get'>
  readonly settings: TenantSettings
  readonly desk: TokenRevoker
  readonly status: StatusWriter<Tenant>
}

const finalizer = 'sekisho.dev/tenant'
export const fieldManager = 'sekisho.dev/tenant'
const endingMilliseconds = 3_000
const uncountedMilliseconds = 3_000

export async function reconcileTenant(deps: TenantDeps, context: ReconcileContext): Promise<Outcome> {
  const found = deps.tenants.get(context.key)
  if (found === undefined) return done
  const cached = deps.status.latest(found)
  if (cached.metadata.deletionTimestamp !== undefined) return end(deps, cached)
  const tenant = await addFinalizer(deps.client, tenants, cached, finalizer)
  if (tenant === undefined) return done
  const facts = await gather(deps, tenant)
  const verdict = await fill(deps, facts, decide(facts))
  const teams = await checkTeams(deps, tenant)
  await deps.status.write(tenant, nextStatus(tenant, verdict, teams, deps.clock.now()))
  if (verdict.kind === 'stop' && verdict.retryMilliseconds !== undefined) return requeueAfter(verdict.retryMilliseconds)
  const nextCheck = nextTeamCheckMilliseconds(teams, deps.teamCheckMilliseconds)
  return nextCheck === undefined ? done : requeueAfter(nextCheck)
}

async function fill(deps: TenantDeps, facts: Facts, verdict: Verdict): Promise<Verdict> {
  if (verdict.kind === 'stop') return verdict
  const { tenant } = facts
  for (const wanted of desiredNamespaces(tenant)) {
    const { name } = wanted.object.metadata
    const present = facts.namespaces.find(found => found.name === name)?.object
    if (!(await makeNamespace(deps, wanted, present)))
      return { kind: 'stop', reason: tenantReasons.namespaceTaken, message: takenMessage(name) }
  }
  const wanted = desiredContents(tenant, deps.settings)
  for (const item of wanted) {
    const present = deps.live(item.type).get(keyOf(item.object))
    if (present === undefined || !isAsDesired(present, item.object)) await apply(deps, item.type, item.object)
  }
  await pruneBindings(deps, tenant, wanted)
  const quotas = wanted.filter(({ type }) => type === resourceQuotas).map(({ object }) => liveQuota(deps, keyOf(object)))
  await recount(deps, quotas)
  return quotaPending(quotas) ?? verdict
}

/** False when somebody else made a namespace of that name in the meantime. */
async function makeNamespace(deps: TenantDeps, { object }: DesiredObject, present: KubeObject | undefined): Promise<boolean> {
  try {
    if (present === undefined) await deps.client.create(namespaces, object, { fieldManager })
    else if (!isAsDesired(present, object)) await apply(deps, namespaces, withUid(object, present.metadata.uid))
    return true
  } catch (error) {
    if (isKubeError(error, 409) && present === undefined) return false
    if (isGone(error)) return false
    throw error
  }
}

function liveQuota(deps: TenantDeps, key: ObjectKey): ResourceQuota | undefined {
  return deps.live(resourceQuotas).get(key)
}

/**
 * A quota made before the cluster knew a kind it names is counted in a full resync only (5 minutes), a new one at once: so the old one
 * goes, and the next look makes it anew. Nothing is lost: until it is counted, it lets nothing of that kind in anyway.
 */
async function recount(deps: TenantDeps, quotas: readonly (ResourceQuota | undefined)[]): Promise<void> {
  const patience = deps.clock.now().getTime() - uncountedMilliseconds
  for (const quota of quotas) {
    const { uid, creationTimestamp = '' } = quota?.metadata ?? {}
    if (quota === undefined || uid === undefined || isCounted(quota) || !(Date.parse(creationTimestamp) < patience)) continue
    await deps.client.delete(resourceQuotas, keyOf(quota), { uid })
  }
}

function withUid(object: Applied, uid: string | undefined): Applied {
  return uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } }
}

async function apply(deps: TenantDeps, type: ResourceType, object: Applied): Promise<void> {
  await deps.client.apply(type, object, { fieldManager, force: true })
}

/** A role that nobody has any more must not stay bound. */
async function pruneBindings(deps: TenantDeps, tenant: Tenant, wanted: readonly DesiredObject[]): Promise<void> {
  const kept = new Set(wanted.filter(({ type }) => type === roleBindings).map(({ object }) => object.metadata.name))
  const { namespace } = tenant.spec
  for (const name of bindingNames.filter(candidate => !kept.has(candidate))) {
    const present = deps.live(roleBindings).get({ namespace, name })
    if (present === undefined || controllerOf(present)?.uid !== tenant.metadata.uid) continue
    const { uid } = present.metadata
    await deps.client.delete(roleBindings, { namespace, name }, uid === undefined ? {} : { uid })
  }
}

async function end(deps: TenantDeps, tenant: Tenant): Promise<Outcome> {
  if (!tenant.metadata.finalizers?.includes(finalizer)) return done
  const facts = await gather(deps, tenant)
  const mine = facts.namespaces.filter(({ state }) => state === 'ours' || state === 'ending')
  for (const { name } of mine) await deps.desk.revokeBy({ namespace: name }, 'the tenant was deleted')
  for (const { name, object } of mine.filter(({ state }) => state === 'ours')) {
    const uid = object?.metadata.uid
    await deps.client.delete(namespaces, { name }, uid === undefined ? {} : { uid })
  }
  if (mine.length > 0) return requeueAfter(endingMilliseconds)
  await removeFinalizer(deps.client, tenants, tenant, finalizer)
  return done
}
