// The policies of a namespace, compiled once for each state of them. Decides nothing.
import type { ClusterGrantPolicy, GrantPolicy } from '../../../api/github/grant-policy.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { compilePolicies, type GrantPolicies } from '../../../policy/grants/grant-policies.ts'

/** What decides about the grants of a namespace now. */
export type KnownPolicies = (namespace: string) => GrantPolicies

const maxNamespaces = 2000

/** The caches of both kinds. */
export type PolicyCaches = {
  readonly policies: Pick<Cache<GrantPolicy>, 'list'>
  readonly clusterPolicies: Pick<Cache<ClusterGrantPolicy>, 'list'>
}

/** Reads the caches at each call; compiles only what changed. */
export function createKnownPolicies({ policies, clusterPolicies }: PolicyCaches): KnownPolicies {
  // Memory (compiled policies of grants): namespace → the index of its GrantPolicies and of the ClusterGrantPolicies
  //   life: the process
  //   bound: 2,000 namespaces of at most 1,000 rules, the one compiled first forgotten first
  //   freshness: compiled again when a policy of the namespace or of the cluster has another generation
  //   replicas: the leader decides
  const compiled = new BoundedMap<{ readonly state: string; readonly policies: GrantPolicies }>(maxNamespaces)
  return namespace => {
    const [ofNamespace, ofCluster] = [policies.list(namespace), clusterPolicies.list()]
    const state = `${stateOf(ofCluster)};${stateOf(ofNamespace)}`
    const before = compiled.get(namespace)
    if (before?.state === state) return before.policies
    const now = compilePolicies(ofCluster, ofNamespace)
    compiled.set(namespace, { state, policies: now })
    return now
  }
}

function stateOf(list: readonly (GrantPolicy | ClusterGrantPolicy)[]): string {
  return list
    .map(({ metadata: { uid, generation } }) => `${uid}:${generation}`)
    .sort()
    .join(',')
}
