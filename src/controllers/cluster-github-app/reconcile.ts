// Asks GitHub about one App and reports the answer. Writes the status and Events, nothing else.

import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { done, type Outcome, type ReconcileContext } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import type { GitHubApps } from '../../services/token-desk/app-clients.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { decide } from './decide.ts'
import { gather, type Refusals } from './gather.ts'
import { nextStatus } from './status.ts'

export type ClusterGitHubAppDeps = {
  readonly apps: Pick<Cache<ClusterGitHubApp>, 'get'>
  readonly githubApps: GitHubApps
  readonly refusals: Refusals
  readonly status: StatusWriter<ClusterGitHubApp>
  readonly clock: Clock
}

/** Idempotent; leaves an App that is being deleted alone. */
export async function reconcileClusterGitHubApp(deps: ClusterGitHubAppDeps, context: ReconcileContext): Promise<Outcome> {
  const found = deps.apps.get(context.key)
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return done
  const object = deps.status.latest(found)
  const facts = await gather(deps, object)
  const decision = decide(facts)
  await deps.status.write(object, nextStatus(facts, decision, deps.clock.now()))
  return requeueAfterSoonest(decision.requeueAfterMilliseconds)
}
