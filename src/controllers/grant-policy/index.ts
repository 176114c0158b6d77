// Wires the controllers of GrantPolicies and ClusterGrantPolicies, which report only: whether a policy is in effect, and how many
// RepositoryGrants it decided. The RepositoryGrant controller decides by them.
import { clusterGrantPolicy, type GrantPolicy, grantPolicy } from '../../api/github/grant-policy.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import type { KindDefinition } from '../../api/kind.ts'
import { keyOf } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { type ControllerDefinition, done, requeueAfter, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Kind } from '../../policy/grants/policy-row.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { tenantsByNamespace } from '../kit/tenants-by-namespace.ts'
import { grantCounts, grantsOfPolicies } from './counts.ts'
import { readyOf } from './status.ts'

/** Grants change by the thousand when a policy does: a policy is not written for each of them. */
const recountMilliseconds = 60_000

export type GrantPolicyControllerDeps = {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
}

type Reported = {
  readonly name: string
  readonly origin: Kind
  /** Both kinds have the same content. */
  readonly kind: KindDefinition<GrantPolicy>
  readonly isOfTenant: (namespace: string) => boolean
}

/** Writes the status of one kind. `isOfTenant` is asked about the namespace. */
function reporting(
  { manager, events, clock }: GrantPolicyControllerDeps,
  { name, origin, kind, isOfTenant }: Reported,
): ControllerDefinition {
  const { client } = manager
  const policies = manager.cache(kind)
  const grantsOf = grantsOfPolicies(manager.cache(repositoryGrant))
  const fieldManager = `sekisho.dev/${name}`
  const status = createStatusWriter({ type: kind, fieldManager, client, cache: policies, events })
  return {
    name,
    for: kind,
    watches: [],
    async reconcile({ key }) {
      const cached = policies.get(key)
      if (cached === undefined || cached.metadata.deletionTimestamp !== undefined) return done
      const policy = status.latest(cached)
      const generation = policy.metadata.generation ?? 1
      const ready = readyOf(policy, isOfTenant(policy.metadata.namespace ?? ''))
      const now = clock.now()
      const conditions = mergeConditions(policy.status?.conditions, [ready], generation, now)
      const grants = grantCounts(origin, policy, grantsOf(origin, key), now)
      await status.write(policy, { observedGeneration: generation, conditions, grants })
      return requeueAfter(recountMilliseconds)
    },
  }
}

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createGrantPolicyController(deps: GrantPolicyControllerDeps): ControllerDefinition {
  const { manager } = deps
  const policies = manager.cache(grantPolicy)
  const tenantsIn = tenantsByNamespace(manager.cache(tenant))
  const isOfTenant = (namespace: string): boolean => tenantsIn(namespace).length > 0
  return {
    ...reporting(deps, { name: 'grant-policy', origin: 'GrantPolicy', kind: grantPolicy, isOfTenant }),
    watches: [
      watches(tenant, ({ spec }) => policies.list(spec.namespace).map(keyOf), {
        predicate: partChanged(({ metadata }) => metadata.uid),
      }),
    ],
  }
}

/** Call before the manager starts. */
export function createClusterGrantPolicyController(deps: GrantPolicyControllerDeps): ControllerDefinition {
  return reporting(deps, {
    name: 'cluster-grant-policy',
    origin: 'ClusterGrantPolicy',
    kind: clusterGrantPolicy,
    isOfTenant: () => true,
  })
}
