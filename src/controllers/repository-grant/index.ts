// Wires the RepositoryGrant controller: an Installation that becomes ready, or stops being ready, wakes the grants under it. Decides nothing.
import { type Installation, installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { createStatusWriter } from '../status-writer.ts'
import { createProbeBudget } from './probe-budget.ts'
import { type RepositoryGrantDeps, reconcileRepositoryGrant } from './reconcile.ts'

export type RepositoryGrantControllerDeps = Omit<
  RepositoryGrantDeps,
  'grants' | 'status' | 'installations' | 'recheckMilliseconds' | 'budget'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  /** Default one hour; the broker's webhooks wake the controller much sooner. */
  readonly recheckMilliseconds?: number
}

const byInstallation = 'repository-grant/by-installation'

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createRepositoryGrantController(deps: RepositoryGrantControllerDeps): ControllerDefinition {
  const { manager, recheckMilliseconds = 3_600_000 } = deps
  const grants = manager.cache(repositoryGrant)
  const installations = manager.cache(installation)
  const { client } = manager
  const budget = createProbeBudget(deps.clock)
  const fieldManager = 'sekisho.dev/repository-grant'
  const status = createStatusWriter({ type: repositoryGrant, fieldManager, client, cache: grants, events: deps.events })
  grants.addIndex(byInstallation, ({ metadata, spec }) => [
    keyText({ namespace: metadata.namespace ?? '', name: spec.installation }),
  ])
  const readiness = (object: Installation): unknown => [
    object.metadata.deletionTimestamp,
    findCondition(object.status?.conditions, 'Ready')?.status,
  ]
  return {
    name: 'repository-grant',
    for: repositoryGrant,
    watches: [
      watches(installation, object => grants.byIndex(byInstallation, keyText(keyOf(object))).map(keyOf), {
        predicate: partChanged(readiness),
      }),
    ],
    reconcile: context =>
      reconcileRepositoryGrant({ ...deps, budget, grants, status, installations, recheckMilliseconds }, context),
  }
}
