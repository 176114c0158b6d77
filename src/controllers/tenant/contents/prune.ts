// Deletes what a Tenant does not want any more in its namespaces, and quotas that count too late.
import { networkPolicies, type ResourceQuota, resourceQuotas, roleBindings } from '../../../api/builtin/index.ts'
import { namespacesOf } from '../../../api/names.ts'
import { type KubeObject, keyOf, keyText, type ResourceType } from '../../../api/resource.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import type { Clock } from '../../../lib/clock.ts'
import { defined } from '../../../lib/json/defined.ts'
import { isCounted } from '../decide.ts'
import type { DesiredObject } from '../desired.ts'
import { bindingNames } from '../rights/role-bindings.ts'

export type PruneDeps = {
  readonly client: Pick<KubeClient, 'delete'>
  readonly live: (type: ResourceType) => Pick<Cache<KubeObject>, 'get' | 'list'>
  readonly clock: Clock
}

const uncountedMilliseconds = 3_000

/** Deletes our bindings of roles that nobody has any more. */
export async function pruneBindings(deps: PruneDeps, tenant: Tenant, contents: readonly DesiredObject[]): Promise<void> {
  const kept = new Set(contents.filter(({ type }) => type === roleBindings).map(({ object }) => object.metadata.name))
  const { namespace } = tenant.spec
  for (const name of bindingNames.filter(candidate => !kept.has(candidate))) {
    const live = deps.live(roleBindings).get({ namespace, name })
    if (live === undefined || controllerOf(live)?.uid !== tenant.metadata.uid) continue
    const { uid } = live.metadata
    await deps.client.delete(roleBindings, { namespace, name }, defined({ uid }))
  }
}

/** Policies add up: one that is not wanted any more would keep open what it allowed. */
export async function prunePolicies(deps: PruneDeps, tenant: Tenant, contents: readonly DesiredObject[]): Promise<void> {
  const kept = new Set(contents.filter(({ type }) => type === networkPolicies).map(({ object }) => keyText(keyOf(object))))
  for (const namespace of namespacesOf(tenant.spec.namespace)) {
    for (const live of deps.live(networkPolicies).list(namespace)) {
      if (kept.has(keyText(keyOf(live))) || controllerOf(live)?.uid !== tenant.metadata.uid) continue
      const { uid } = live.metadata
      await deps.client.delete(networkPolicies, keyOf(live), defined({ uid }))
    }
  }
}

/**
 * A quota that is older than a kind it names is counted in a full resync of the quota controller only (5 minutes), a new quota
 * at once. So the old one is deleted, and the next reconcile recreates it. Nothing is lost: an uncounted quota lets nothing of
 * the kind in anyway.
 */
export async function recount(deps: PruneDeps, quotas: readonly (ResourceQuota | undefined)[]): Promise<void> {
  const countedSince = deps.clock.now().getTime() - uncountedMilliseconds
  for (const quota of quotas) {
    const { uid, creationTimestamp = '' } = quota?.metadata ?? {}
    if (quota === undefined || uid === undefined || isCounted(quota) || !(Date.parse(creationTimestamp) < countedSince)) continue
    await deps.client.delete(resourceQuotas, keyOf(quota), { uid })
  }
}
