// Wires the Installation controller: an App that becomes usable or unusable wakes the Installations under it. Decides nothing.
import { type ClusterGitHubApp, clusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import { installation } from '../../api/github/installation.ts'
import { keyOf } from '../../api/resource.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { reportInStatus, withMissingRights } from '../kit/missing-right.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { createInstallationDirectory } from './installation-directory.ts'
import { appsOfPool } from './other-apps.ts'
import { createOwnerCheckSchedule } from './owner-check-schedule.ts'
import { type InstallationDeps, reconcileInstallation } from './reconcile.ts'

export type InstallationControllerDeps = Omit<
  InstallationDeps,
  'installations' | 'status' | 'appIdOf' | 'directory' | 'ownerChecks' | 'poolOf'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  /** Default one hour, longer with many Installations; the broker's webhooks wake the controller much sooner. */
  readonly ownerCheckMilliseconds?: number
}

const byApp = 'installation/by-app'

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createInstallationController(deps: InstallationControllerDeps): ControllerDefinition {
  const { manager, ownerCheckMilliseconds = 3_600_000 } = deps
  const installations = manager.cache(installation)
  const apps = manager.cache(clusterGitHubApp)
  installations.addIndex(byApp, object => [object.spec.app])
  const { client } = manager
  const { clock } = deps
  const directory = createInstallationDirectory({ clock })
  const ownerChecks = createOwnerCheckSchedule({
    clock,
    everyMilliseconds: ownerCheckMilliseconds,
    countOf: app => installations.byIndex(byApp, app).length,
  })
  const fieldManager = 'sekisho.dev/installation'
  const status = createStatusWriter({ type: installation, fieldManager, client, cache: installations, events: deps.events })
  const appIdOf = (name: string): number | undefined => apps.get({ name })?.spec.appId
  const poolOf = (name: string): readonly string[] => appsOfPool(name, apps.list())
  const usability = (app: ClusterGitHubApp): unknown => [app.spec, findCondition(app.status?.conditions, 'Ready')?.status]
  const installationsOf = (app: string) => installations.byIndex(byApp, app).map(keyOf)
  const definition: ControllerDefinition = {
    name: 'installation',
    for: installation,
    watches: [
      // Also those of the other Apps of its pool: it may be installed on their accounts.
      watches(clusterGitHubApp, ({ metadata: { name } }) => [name, ...poolOf(name)].flatMap(installationsOf), {
        predicate: partChanged(usability),
      }),
    ],
    reconcile: context =>
      reconcileInstallation({ ...deps, installations, status, appIdOf, poolOf, directory, ownerChecks }, context),
  }
  return withMissingRights(definition, { cache: installations, says: reportInStatus(status, clock), clock })
}
