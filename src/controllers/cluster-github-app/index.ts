// Wires the ClusterGitHubApp controller: a changed Secret of the platform namespace wakes the Apps whose keys are in it. Decides nothing.
import { secrets } from '../../api/builtin/index.ts'
import { clusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import { platformNamespace } from '../../api/names.ts'
import { keyOf } from '../../api/resource.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { createStatusWriter } from '../status-writer.ts'
import { type ClusterGitHubAppDeps, reconcileClusterGitHubApp } from './reconcile.ts'

export type ClusterGitHubAppControllerDeps = Omit<ClusterGitHubAppDeps, 'apps' | 'status'> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
}

const bySecret = 'cluster-github-app/by-secret'

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createClusterGitHubAppController(deps: ClusterGitHubAppControllerDeps): ControllerDefinition {
  const apps = deps.manager.cache(clusterGitHubApp)
  const { client } = deps.manager
  const fieldManager = 'sekisho.dev/cluster-github-app'
  const status = createStatusWriter({ type: clusterGitHubApp, fieldManager, client, cache: apps, events: deps.events })
  apps.addIndex(bySecret, app => app.spec.privateKeys.map(({ secretName }) => secretName))
  return {
    name: 'cluster-github-app',
    for: clusterGitHubApp,
    watches: [
      watches(secrets, secret => apps.byIndex(bySecret, secret.metadata.name).map(keyOf), { namespace: platformNamespace }),
    ],
    reconcile: context => reconcileClusterGitHubApp({ ...deps, apps, status }, context),
  }
}
