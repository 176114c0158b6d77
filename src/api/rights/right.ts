// What a right of one of our own processes is, as data: the ClusterRoles and Roles under deploy/rbac, the policy that holds our
// identities to them, and docs/reference/rights.md are generated from the lists in this folder. Pure.
import { defined } from '../../lib/json/defined.ts'
import type { RoleRule } from '../tenancy/tenant-roles.ts'

/**
 * Where a right holds. `cluster`: objects without a namespace, and reads in all namespaces. `application`, `build`: the two
 * namespaces of each tenant, by RoleBindings that the Tenant controller makes there. `platform`: sekisho-system. `data`:
 * sekisho-data. `default`: the namespace in which Kubernetes keeps Events about objects without a namespace.
 */
export type Place = 'cluster' | 'application' | 'build' | 'platform' | 'data' | 'default'

/**
 * The verbs of RBAC that our client sends. A server-side apply is authorized as `patch`, and as `create` too when it makes the
 * object.
 */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'delete' | 'bind'

export type Right = {
  readonly place: Place
  /** Granted in the whole cluster, because RBAC cannot say it closer, and held to these places by the policy own-writes. */
  readonly within?: readonly Place[]
  readonly group: string
  /** Plural names; `installations/status` for a subresource. */
  readonly resources: readonly string[]
  /** Only objects of these names. A plain create has no name and is never covered; an apply has one. */
  readonly names?: readonly string[]
  /** Only objects whose names begin so. RBAC cannot say it: the policy own-writes holds writes to it. */
  readonly namePrefix?: string
  readonly verbs: readonly Verb[]
  /** The files of src that need it. A list or watch is needed by whoever asks for the cache. */
  readonly usedBy: readonly string[]
  /** Set where no test makes these requests: why the right is needed all the same. */
  readonly unseen?: string
}

/** The rule of rbac.authorization.k8s.io/v1 for a right. */
export function roleRule({ group, resources, names, verbs }: Right): RoleRule & { readonly resourceNames?: readonly string[] } {
  return { apiGroups: [group], resources, ...defined({ resourceNames: names }), verbs }
}

export const writingVerbs: ReadonlySet<Verb> = new Set<Verb>(['create', 'patch', 'delete'])
