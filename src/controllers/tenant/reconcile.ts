// Keeps a Tenant's namespaces and their contents. The only file here that writes. It never adopts a namespace: new ones are created, not
// applied, and existing ones are changed by their uid. In a namespace the platform's own rights come first: without them it may write nothing else
// there. When the Tenant is deleted, tokens end first, then the namespaces, then the finalizer.
import {
  namespaces,
  networkPolicies,
  pods,
  type ResourceQuota,
  type RoleBinding,
  type RuntimeClass,
  resourceQuotas,
  roleBindings,
  secrets,
} from '../../api/builtin/index.ts'
import { kinds } from '../../api/registry.ts'
import { type KubeObject, keyOf, keyText, type ObjectKey, type ResourceType } from '../../api/resource.ts'
import { type Tenant, tenant as tenants } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Applied, KubeClient } from '../../kube/client/client.ts'
import { isGone, isKubeError } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { removeFinalizer } from '../../kube/object/finalizers.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import type { Enforcement } from '../../services/network-probe/enforcement.ts'
import type { TenantRegistry } from '../../services/registry/tenant-registry.ts'
import type { TokenDesk } from '../../services/token-desk/token-desk.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import { recordEndOnce } from '../../store/audit/record-end.ts'
import { reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import { soonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import {
  classesAreUsable,
  credentialsExist,
  type Decision,
  decide,
  isCounted,
  namespaceTaken,
  noUserRange,
  quotasAreCounted,
} from './decide.ts'
import { type DesiredObject, desiredContents, desiredNamespaces, desiredRights } from './desired.ts'
import { type EndDeps, endNamespaces } from './end/end-namespaces.ts'
import { type Facts, firstUserOfOurs, gather, namespacesOf } from './gather.ts'
import { needsApply } from './needs-apply.ts'
import { rightsFinalizer } from './platform-bindings.ts'
import { bindingNames } from './role-bindings.ts'
import { chosenClasses, classesInForce, classMarks, classProblem } from './runtime/choose-classes.ts'
import type { TenantSettings } from './settings.ts'
import { heldStatus, nextStatus } from './status.ts'
import { checkTeams, type TeamCheckDeps } from './teams/check-teams.ts'
import { nextTeamCheckMilliseconds } from './teams/decide-teams.ts'
import type { UserRanges } from './users/user-ranges.ts'

export type TenantDeps = TeamCheckDeps &
  Pick<EndDeps, 'events'> & {
    readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'apply' | 'mergePatch' | 'delete'>
    readonly tenants: Pick<Cache<Tenant>, 'get'>
    /** The cached objects of a kind that tenants' namespaces contain. */
    readonly live: (type: ResourceType) => Pick<Cache<KubeObject>, 'get' | 'list'>
    readonly classes: Pick<Cache<RuntimeClass>, 'get'>
    readonly settings: TenantSettings
    readonly registry: TenantRegistry
    readonly userRanges: UserRanges
    readonly desk: Pick<TokenDesk, 'revokeBy'>
    readonly audit: Pick<AuditLog, 'appendOnce'>
    /** What the probe recorded last about the enforcement of network policies. */
    readonly enforcement: () => Enforcement
    readonly status: StatusWriter<Tenant>
  }

/** The field manager of the namespaces, of their contents and of the status. */
export const fieldManager = 'sekisho.dev/tenant'
const deletionRetryMilliseconds = 3_000
const uncountedMilliseconds = 3_000
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
  const facts = await gather(deps, tenant)
  const held = await endNamespaces(deps, tenant, leaving(facts))
  const decision = decide(facts, held)
  await releaseRights(deps, facts)
  const result = decision.kind === 'fill' ? await fill(deps, facts) : decision
  // After the namespaces: they must not wait for GitHub.
  const teams = await checkTeams(deps, tenant)
  await deps.status.write(
    tenant,
    nextStatus(tenant, { decision: result, teams, enforcement: deps.enforcement() }, deps.clock.now()),
  )
  const retry = result.kind === 'refused' ? result.requeueAfterMilliseconds : undefined
  const next = retry ?? soonest(nextTeamCheckMilliseconds(teams), rotationMilliseconds(deps))
  // What is further away is found by the resync, which a requeue would replace.
  return next === undefined || next >= resyncMilliseconds ? done : requeueAfter(next)
}

/** New credentials have to be written within a day of the end of their period. */
function rotationMilliseconds({ registry }: TenantDeps): number | undefined {
  const next = registry.nextRotationMilliseconds()
  return next === undefined ? undefined : next + rotationSlackMilliseconds
}

async function fill(deps: TenantDeps, facts: Facts): Promise<Decision> {
  const { tenant, namespaces: found } = facts
  const firstUser = firstUserOfOurs(facts) ?? (await deps.userRanges.allot(tenant))
  if (firstUser === undefined) return { kind: 'refused', ...noUserRange() }
  const classOf = (name: string) => deps.classes.get({ name })
  const chosen = chosenClasses(tenant, deps.settings.runtimeClasses)
  const marks = classMarks(chosen, classOf)
  for (const wanted of desiredNamespaces(tenant, deps.settings, { firstUser, classes: marks })) {
    const { name } = wanted.object.metadata
    const live = found.find(namespace => namespace.name === name)?.object
    if (live === undefined && !(await createNamespace(deps, wanted))) return { kind: 'refused', ...namespaceTaken(name) }
    await keepRights(deps, tenant, name)
    if (live !== undefined && !(await changeNamespace(deps, wanted, live))) return { kind: 'refused', ...namespaceTaken(name) }
  }
  const credentials = await deps.registry.credentialsOf(tenant)
  const contents = desiredContents(tenant, deps.settings, credentials)
  for (const { type, object } of contents) {
    const live = await liveObject(deps, type, keyOf(object))
    if (live === undefined || needsApply(object, live)) await apply(deps, type, object)
  }
  await pruneBindings(deps, tenant, contents)
  await prunePolicies(deps, tenant, contents)
  const quotas = contents
    .filter(({ type }) => type === resourceQuotas)
    .map(({ object }): ResourceQuota | undefined => deps.live(resourceQuotas).get(keyOf(object)))
  await recount(deps, quotas)
  const refusal = quotasAreCounted(quotas) ?? classesAreUsable(classProblem(chosen, classOf)) ?? credentialsExist(credentials)
  const classes = classesInForce(chosen, classOf, tenant.status?.runtimeClasses)
  if (refusal) return { kind: 'refused', ...refusal, classes }
  return { kind: 'fill', firstUser, classes, imagesAreOpen: credentials.kind === 'open' }
}

/** The namespaces that are being deleted. */
function leaving({ namespaces: found }: Facts): Facts['namespaces'] {
  return found.filter(({ state }) => state === 'terminating')
}

/** False when the namespace was created by somebody else in the meantime. */
async function createNamespace({ client }: TenantDeps, { object }: DesiredObject): Promise<boolean> {
  try {
    await client.create(namespaces, object, { fieldManager })
    return true
  } catch (error) {
    if (isKubeError(error, 409)) return false
    throw error
  }
}

/** False when the namespace was deleted in the meantime. */
async function changeNamespace(deps: TenantDeps, { object }: DesiredObject, live: KubeObject): Promise<boolean> {
  try {
    if (needsApply(object, live)) await apply(deps, namespaces, withUid(object, live.metadata.uid))
    return true
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}

/** Secrets are in no cache: they may only be read one by one. */
async function liveObject(deps: TenantDeps, type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
  return type === secrets ? deps.client.get(secrets, key) : deps.live(type).get(key)
}

/**
 * Gives our own processes their rights in a namespace. It needs none there: RoleBindings to these roles may be written cluster-wide. The authorizer
 * learns of them a moment later; what it still refuses is retried.
 */
async function keepRights(deps: TenantDeps, tenant: Tenant, namespace: string): Promise<void> {
  for (const { object } of desiredRights(tenant, deps.settings.accounts)) {
    if (object.metadata.namespace !== namespace) continue
    const live = deps.live(roleBindings).get(keyOf(object))
    const leaving = live?.metadata.deletionTimestamp !== undefined
    if (live !== undefined && leaving) await removeFinalizer(deps.client, roleBindings, live, rightsFinalizer)
    if (live === undefined || leaving || needsApply(object, live)) await apply(deps, roleBindings, object)
  }
}

/**
 * Lets the rights in namespaces that are being deleted go, once nothing in them waits for one of our processes: no object of our kinds, and no pod
 * that may have to be forced. Asks the API
 * server: a cache may be behind, and an object that were left could never lose its finalizer again.
 */
async function releaseRights(deps: TenantDeps, facts: Facts): Promise<void> {
  const ending = leaving(facts)
  const bindings = ending.flatMap(({ name }) => deps.live(roleBindings).list(name))
  const held = bindings.filter(({ metadata }) => metadata.finalizers?.includes(rightsFinalizer))
  if (held.length === 0) return
  const { namespace } = facts.tenant.spec
  for (const { name } of ending) if ((await deps.client.list(pods, { namespace: name })).length > 0) return
  for (const kind of kinds.filter(({ namespaced }) => namespaced))
    if ((await deps.client.list(kind, { namespace })).length > 0) return
  for (const binding of held) await removeFinalizer(deps.client, roleBindings, binding as RoleBinding, rightsFinalizer)
}

/**
 * A quota that is older than a kind it names is counted in a full resync of the quota controller only (5 minutes), a new quota at once. So
 * the old one is deleted, and the next reconcile recreates it. Nothing is lost: an uncounted quota lets nothing of the kind in anyway.
 */
async function recount(deps: TenantDeps, quotas: readonly (ResourceQuota | undefined)[]): Promise<void> {
  const countedSince = deps.clock.now().getTime() - uncountedMilliseconds
  for (const quota of quotas) {
    const { uid, creationTimestamp = '' } = quota?.metadata ?? {}
    if (quota === undefined || uid === undefined || isCounted(quota) || !(Date.parse(creationTimestamp) < countedSince)) continue
    await deps.client.delete(resourceQuotas, keyOf(quota), { uid })
  }
}

function withUid(object: Applied, uid: string | undefined): Applied {
  return uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } }
}

async function apply(deps: TenantDeps, type: ResourceType, object: Applied): Promise<void> {
  await deps.client.apply(type, object, { fieldManager, force: true })
}

/** Deletes our bindings of roles that nobody has any more. */
async function pruneBindings(deps: TenantDeps, tenant: Tenant, contents: readonly DesiredObject[]): Promise<void> {
  const kept = new Set(contents.filter(({ type }) => type === roleBindings).map(({ object }) => object.metadata.name))
  const { namespace } = tenant.spec
  for (const name of bindingNames.filter(candidate => !kept.has(candidate))) {
    const live = deps.live(roleBindings).get({ namespace, name })
    if (live === undefined || controllerOf(live)?.uid !== tenant.metadata.uid) continue
    const { uid } = live.metadata
    await deps.client.delete(roleBindings, { namespace, name }, uid === undefined ? {} : { uid })
  }
}

/** Policies add up: one that is not wanted any more would keep open what it allowed. */
async function prunePolicies(deps: TenantDeps, tenant: Tenant, contents: readonly DesiredObject[]): Promise<void> {
  const kept = new Set(contents.filter(({ type }) => type === networkPolicies).map(({ object }) => keyText(keyOf(object))))
  for (const namespace of namespacesOf(tenant)) {
    for (const live of deps.live(networkPolicies).list(namespace)) {
      if (kept.has(keyText(keyOf(live))) || controllerOf(live)?.uid !== tenant.metadata.uid) continue
      const { uid } = live.metadata
      await deps.client.delete(networkPolicies, keyOf(live), uid === undefined ? {} : { uid })
    }
  }
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
    await deps.client.delete(namespaces, { name }, uid === undefined ? {} : { uid })
  }
  if (ours.length > 0) return requeueAfter(deletionRetryMilliseconds)
  await deps.userRanges.release(tenant)
  await recordEnd(deps.audit, tenant)
  return undefined
}

function recordEnd(audit: TenantDeps['audit'], { metadata, spec }: Tenant): Promise<void> {
  const { name, uid = '' } = metadata
  return recordEndOnce(audit, {
    action: 'tenant.ended',
    actor: 'sekisho:tenant',
    namespace: spec.namespace,
    object: `Tenant/${name}`,
    outcome: 'allowed',
    reason: 'the Tenant was deleted',
    details: { host: spec.account.host, accountId: spec.account.id, uid },
  })
}
