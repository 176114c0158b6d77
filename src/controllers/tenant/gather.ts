// What must be known about a Tenant: its two namespaces and what stands in them. Reads caches and, where a cache may lag, the API server.
import { buildNamespaceOf } from '../../api/names.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenant.ts'
import { type Namespace, namespaces } from '../../kube/builtin.ts'
import type { KubeClient } from '../../kube/client.ts'
import { controllerOf } from '../../kube/owner.ts'
import type { Cache } from '../../kube/store.ts'

/** How a namespace of this name stands to the Tenant. */
export type NamespaceFact = 'absent' | 'ours' | 'terminating' | 'taken'

export type Facts = {
  readonly tenant: Tenant
  readonly applications: { readonly name: string; readonly state: NamespaceFact }
  readonly builds: { readonly name: string; readonly state: NamespaceFact }
}

export type GatherDeps = {
  readonly client: Pick<KubeClient, 'get'>
  readonly namespaces: Pick<Cache<Namespace>, 'get'>
}

export async function gather(deps: GatherDeps, tenant: Tenant): Promise<Facts> {
  const applications = tenant.spec.namespace
  const builds = buildNamespaceOf(applications)
  return {
    tenant,
    applications: { name: applications, state: await stateOf(deps, tenant, applications) },
    builds: { name: builds, state: await stateOf(deps, tenant, builds) },
  }
}

/** The cache holds namespaces with our label only: a namespace that it does not know may still be somebody's. */
async function stateOf(deps: GatherDeps, tenant: Tenant, name: string): Promise<NamespaceFact> {
  const found = deps.namespaces.get({ name }) ?? (await deps.client.get(namespaces, { name }))
  if (found === undefined) return 'absent'
  if (controllerOf(found)?.uid !== tenant.metadata.uid) return 'taken'
  return found.metadata.deletionTimestamp === undefined ? 'ours' : 'terminating'
}

/** Finds the live form of a wanted object. */
export type LiveObjects = (
  type: ResourceType,
  key: { readonly namespace?: string; readonly name: string },
) => KubeObject | undefined
