// Asks GitHub about one App and reports it. Writes the status and an Event, nothing else.
import { type ClusterGitHubApp, clusterGitHubApp } from '../../api/cluster-github-app.ts'
import type { KubeClient } from '../../kube/client.ts'
import { findCondition, sameStatus } from '../../kube/conditions.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/events.ts'
import type { Cache } from '../../kube/store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { GitHubApps } from '../github-apps.ts'
import { decide } from './decide.ts'
import { gather } from './gather.ts'
import { type AppStatus, nextStatus } from './status.ts'

export type ClusterGitHubAppDeps = {
  readonly client: Pick<KubeClient, 'applyStatus'>
  readonly apps: Pick<Cache<ClusterGitHubApp>, 'get'>
  readonly githubApps: GitHubApps
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
}

const fieldManager = 'sekisho.dev/cluster-github-app'

export async function reconcileClusterGitHubApp(deps: ClusterGitHubAppDeps, context: ReconcileContext): Promise<Outcome> {
  const object = deps.apps.get(context.key)
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return done
  const facts = await gather(deps.githubApps, object)
  const verdict = decide(facts)
  await writeStatus(deps, object, nextStatus(facts, verdict, deps.clock.now()))
  return verdict.retryAfterMilliseconds === undefined ? done : requeueAfter(verdict.retryAfterMilliseconds)
}

async function writeStatus(deps: ClusterGitHubAppDeps, object: ClusterGitHubApp, status: AppStatus): Promise<void> {
  if (sameStatus(object.status, status)) return
  const { apiVersion, kind } = clusterGitHubApp
  const { name, uid } = object.metadata
  const metadata = { name, ...(uid === undefined ? {} : { uid }) }
  await deps.client.applyStatus(clusterGitHubApp, { apiVersion, kind, metadata, status }, { fieldManager, force: true })
  const ready = findCondition(status.conditions, 'Ready')
  if (!ready || findCondition(object.status?.conditions, 'Ready')?.reason === ready.reason) return
  const type = ready.status === 'True' ? 'Normal' : 'Warning'
  deps.events.record(object, { type, reason: ready.reason, message: ready.message })
}
