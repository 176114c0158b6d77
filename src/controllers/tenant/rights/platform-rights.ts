// The rights of our own processes in the namespaces of a tenant: they come first, and they go last.
import { pods, type RoleBinding, roleBindings } from '../../../api/builtin/index.ts'
import { kinds } from '../../../api/registry.ts'
import { type KubeObject, keyOf, type ResourceType } from '../../../api/resource.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { removeFinalizer } from '../../../kube/object/finalizers.ts'
import { desiredRights, fieldManager } from '../desired.ts'
import type { Facts } from '../gather.ts'
import { needsApply } from '../needs-apply.ts'
import type { TenantSettings } from '../settings.ts'
import { rightsFinalizer } from './platform-bindings.ts'

export type RightsDeps = {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'apply' | 'mergePatch'>
  /** The cached objects of a kind that tenants' namespaces contain. */
  readonly live: (type: ResourceType) => Pick<Cache<KubeObject>, 'get' | 'list'>
  readonly settings: Pick<TenantSettings, 'accounts'>
}

/**
 * Gives our own processes their rights in a namespace. It needs none there: RoleBindings to these roles may be written
 * cluster-wide. The authorizer learns of them a moment later; what it still refuses is retried.
 */
export async function keepRights(deps: RightsDeps, tenant: Tenant, namespace: string): Promise<void> {
  for (const { object } of desiredRights(tenant, deps.settings.accounts)) {
    if (object.metadata.namespace !== namespace) continue
    const live = deps.live(roleBindings).get(keyOf(object))
    const leaving = live?.metadata.deletionTimestamp !== undefined
    if (live !== undefined && leaving) await removeFinalizer(deps.client, roleBindings, live, rightsFinalizer)
    if (live === undefined || leaving || needsApply(object, live))
      await deps.client.apply(roleBindings, object, { fieldManager, force: true })
  }
}

/**
 * Lets the rights in namespaces that are being deleted go, once nothing in them waits for one of our processes: no object of
 * our kinds, and no pod that may have to be forced. Asks the API server: a cache may be behind, and an object that were left
 * could never lose its finalizer again.
 */
export async function releaseRights(deps: RightsDeps, facts: Facts): Promise<void> {
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

/** The namespaces that are being deleted. */
export function leaving({ namespaces: found }: Facts): Facts['namespaces'] {
  return found.filter(({ state }) => state === 'terminating')
}
