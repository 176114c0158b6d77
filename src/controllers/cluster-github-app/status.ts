// The status of a ClusterGitHubApp from what was found. Pure; equal facts give an equal status.
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import type { Verdict } from './decide.ts'
import type { Facts } from './gather.ts'

export type AppStatus = NonNullable<ClusterGitHubApp['status']>

export function nextStatus({ object, answer }: Facts, verdict: Verdict, now: Date): AppStatus {
  const { slug, permissions } = object.status ?? {}
  const known = { ...(slug === undefined ? {} : { slug }), ...(permissions === undefined ? {} : { permissions }) }
  const generation = object.metadata.generation ?? 0
  const { status, reason, message } = verdict
  return {
    ...(answer.kind === 'app' ? { slug: answer.app.slug, permissions: { ...answer.app.permissions } } : known),
    observedGeneration: generation,
    conditions: mergeConditions(object.status?.conditions, [{ type: 'Ready', status, reason, message }], generation, now),
  }
}
