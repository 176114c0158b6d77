// What must be known about a Tenant: whether its two namespaces exist and whose they are. Read from the API server itself,
// because a namespace that is not ours does not carry our label and is in no cache. Never throws on absence, never writes.
import { type Namespace, namespaces } from '../../api/builtin/index.ts'
import { labels, namespacesOf } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import { firstUserIn } from '../../lib/limits/user-range.ts'

/** `terminating`: ours, and being deleted. `taken`: not controlled by this Tenant. */
export type NamespaceState = 'absent' | 'ours' | 'terminating' | 'taken'

export type Facts = {
  readonly tenant: Tenant
  readonly namespaces: readonly {
    readonly name: string
    readonly state: NamespaceState
    readonly object: Namespace | undefined
  }[]
  /** The first id of the range that a namespace of this Tenant has been given. */
  readonly firstUser: number | undefined
}

/** @throws KubeError when the API server refuses or cannot be reached */
export async function gather(deps: { readonly client: Pick<KubeClient, 'get'> }, tenant: Tenant): Promise<Facts> {
  const found = await Promise.all(
    namespacesOf(tenant.spec.namespace).map(async name => {
      const object = await deps.client.get(namespaces, { name })
      return { name, state: stateOf(tenant, object), object }
    }),
  )
  const firstUser = found
    .filter(({ state }) => state === 'ours')
    .map(({ object }) => firstUserIn(object?.metadata.labels?.[labels.firstUser] ?? ''))
    .find(first => first !== undefined)
  return { tenant, namespaces: found, firstUser }
}

/** Ours is what this very Tenant controls, by uid: anybody can put our labels and names on anything. */
export function stateOf(tenant: Tenant, object: Namespace | undefined): NamespaceState {
  if (object === undefined) return 'absent'
  if (controllerOf(object)?.uid !== tenant.metadata.uid) return 'taken'
  return object.metadata.deletionTimestamp === undefined ? 'ours' : 'terminating'
}
