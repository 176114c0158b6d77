// The status of a ClusterGitHubApp from the facts and the decision. Pure; equal facts result in an equal status.
import { type ClusterGitHubApp, webhookReadable } from '../../api/github/cluster-github-app.ts'
import type { Condition } from '../../api/resource.ts'
import { findCondition, mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
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
  const before = findCondition(conditions, webhookReadable)
  // What GitHub said last, while it does not answer.
  const kept = answer.kind === 'app' || before === undefined ? undefined : wantedAgain(before)
  const said = webhook ?? kept
  return {
    ...(answer.kind === 'app' ? { slug: answer.app.slug, permissions: { ...answer.app.permissions } } : known),
    observedGeneration: generation,
    conditions: mergeConditions(conditions, said === undefined ? [ready] : [ready, said], generation, now),
  }
}

function wantedAgain({ type, status, reason, message }: Condition): WantedCondition {
  return { type, status, reason, message }
}
