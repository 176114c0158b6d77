// Creates the namespaces of a Tenant and keeps what is in them. In a namespace the platform's own rights come first: without
// them it may write nothing else there. A namespace is never adopted: new ones are created, not applied, and existing ones are
// changed by their uid.
import { namespaces, type ResourceQuota, type RuntimeClass, resourceQuotas, secrets } from '../../../api/builtin/index.ts'
import { type KubeObject, keyOf, type ObjectKey, type ResourceType } from '../../../api/resource.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { Applied, KubeClient } from '../../../kube/client/client.ts'
import { isGone, isKubeError } from '../../../kube/client/errors.ts'
import type { TenantRegistry } from '../../../services/registry/tenant-registry.ts'
import { classesAreUsable, credentialsExist, type Decision, namespaceTaken, noUserRange, quotasAreCounted } from '../decide.ts'
import { type DesiredObject, desiredContents, desiredNamespaces, fieldManager } from '../desired.ts'
import type { Facts } from '../gather.ts'
import { needsApply } from '../needs-apply.ts'
import { keepRights, type RightsDeps } from '../rights/platform-rights.ts'
import { chosenClasses, classesInForce, classMarks, classProblem } from '../runtime/choose-classes.ts'
import type { TenantSettings } from '../settings.ts'
import type { UserRanges } from '../users/user-ranges.ts'
import { type PruneDeps, pruneBindings, prunePolicies, recount } from './prune.ts'

export type FillDeps = RightsDeps &
  PruneDeps & {
    readonly client: Pick<KubeClient, 'get' | 'create' | 'apply'>
    readonly classes: Pick<Cache<RuntimeClass>, 'get'>
    readonly settings: TenantSettings
    readonly registry: Pick<TenantRegistry, 'credentialsOf'>
    readonly userRanges: UserRanges
  }

/** Resolves to whether the namespaces can be used. @throws KubeError when the API server refuses or cannot be reached */
export async function fillNamespaces(deps: FillDeps, facts: Facts): Promise<Decision> {
  const { tenant, namespaces: found } = facts
  const firstUser = facts.firstUser ?? (await deps.userRanges.allot(tenant))
  if (firstUser === undefined) return { kind: 'refused', ...noUserRange() }
  const classOf = (name: string) => deps.classes.get({ name })
  const chosen = chosenClasses(tenant, deps.settings.runtimeClasses)
  const marks = classMarks(chosen, classOf)
  const problem = classProblem(chosen, classOf)
  const classes = classesInForce(chosen, classOf, tenant.status?.runtimeClasses)
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
  const refusal = quotasAreCounted(quotas) ?? classesAreUsable(problem) ?? credentialsExist(credentials)
  if (refusal) return { kind: 'refused', ...refusal, classes }
  return { kind: 'fill', firstUser, classes, imagesAreOpen: credentials.kind === 'open' }
}

/** False when the namespace was created by somebody else in the meantime. */
async function createNamespace({ client }: FillDeps, { object }: DesiredObject): Promise<boolean> {
  try {
    await client.create(namespaces, object, { fieldManager })
    return true
  } catch (error) {
    if (isKubeError(error, 409)) return false
    throw error
  }
}

/** False when the namespace was deleted in the meantime. */
async function changeNamespace(deps: FillDeps, { object }: DesiredObject, live: KubeObject): Promise<boolean> {
  try {
    if (needsApply(object, live)) await apply(deps, namespaces, withUid(object, live.metadata.uid))
    return true
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}

/** Secrets are in no cache: they may only be read one by one. */
async function liveObject(deps: FillDeps, type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
  return type === secrets ? deps.client.get(secrets, key) : deps.live(type).get(key)
}

function withUid(object: Applied, uid: string | undefined): Applied {
  return uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } }
}

async function apply(deps: FillDeps, type: ResourceType, object: Applied): Promise<void> {
  await deps.client.apply(type, object, { fieldManager, force: true })
}
