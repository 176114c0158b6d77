// The status of a ClusterGitHubApp from the facts and the decision. Pure; equal facts result in an equal status.
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import type { Decision } from './decide.ts'
import type { Facts } from './gather.ts'

/** Keeps the slug and the permissions that GitHub reported last while it does not report them. */
export function nextStatus(
  { object, answer }: Facts,
  { ready, webhook }: Decision,
  now: Date,
): NonNullable<ClusterGitHubApp['status']> {
  const { conditions, ...known } = object.status ?? {}
  const generation = object.metadata.generation ?? 0
  return {
    ...(answer.kind === 'app' ? { slug: answer.app.slug, permissions: { ...answer.app.permissions } } : known),
    observedGeneration: generation,
    conditions: mergeConditions(conditions, webhook === undefined ? [ready] : [ready, webhook], generation, now),
  }
}
