// Wires the ClusterGitHubApp controller. Decides nothing. A changed key is found when it is used or at the next look: nothing
// watches Secrets.
import { clusterGitHubApp, webhookReadable } from '../../api/github/cluster-github-app.ts'
import type { ControllerDefinition } from '../../kube/controller/controller.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import type { Refusals } from './gather.ts'
import { type ClusterGitHubAppDeps, reconcileClusterGitHubApp } from './reconcile.ts'

export type ClusterGitHubAppControllerDeps = Omit<ClusterGitHubAppDeps, 'apps' | 'status' | 'refusals'> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
}

/** Call before the manager starts: caches cannot be added later. */
export function createClusterGitHubAppController(deps: ClusterGitHubAppControllerDeps): ControllerDefinition {
  const apps = deps.manager.cache(clusterGitHubApp)
  const { client } = deps.manager
  const fieldManager = 'sekisho.dev/cluster-github-app'
  const status = createStatusWriter({
    type: clusterGitHubApp,
    fieldManager,
    client,
    cache: apps,
    events: deps.events,
    eventsOn: ['Ready', webhookReadable],
  })
  const refusals: Refusals = new WeakMap()
  return {
    name: 'cluster-github-app',
    for: clusterGitHubApp,
    reconcile: context => reconcileClusterGitHubApp({ ...deps, apps, status, refusals }, context),
  }
}
