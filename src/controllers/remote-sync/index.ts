// Wires the RemoteSync controller: what it caches, what wakes it. Decides nothing.
import { application } from '../../api/apps/application.ts'
import { remoteSync } from '../../api/apps/remote-sync.ts'
import { customResourceDefinitions } from '../../api/builtin/index.ts'
import { installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { type KubeObject, keyOf, type ObjectKey } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { createBuildSlots } from '../../builds/build-slots.ts'
import type { Builder } from '../../builds/builder.ts'
import { type KpackSettings, ownerAnnotation, ownerUidLabel } from '../../builds/kpack/build-manifest.ts'
import { createKpackBuilder } from '../../builds/kpack/kpack-builder.ts'
import { type KpackBuild, kpackBuildCrd, kpackBuilds } from '../../builds/kpack/resources.ts'
import { noBuilder } from '../../builds/no-builder.ts'
import { createRepositoryClient } from '../../github/index.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Log } from '../../lib/log.ts'
import { createStatusWriter } from '../status-writer.ts'
import { addRemoteSyncIndexes, installationIndex, namespaced, type RemoteSyncCaches, targetIndex } from './gather.ts'
import { reasons } from './progress.ts'
import { reconcileRemoteSync } from './reconcile.ts'
import { fieldManager, type RemoteSyncDeps } from './run.ts'

export type { RepositoryTokens } from './access.ts'

export type RemoteSyncControllerDeps = Omit<
  RemoteSyncDeps,
  'caches' | 'status' | 'builder' | 'slots' | 'openRepository' | 'client'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  /** `kpackInstalled`: false when the cluster had no kpack at the start. */
  readonly kpack: { readonly installed: boolean; readonly settings: KpackSettings }
  readonly events: Pick<EventRecorder, 'record'>
  readonly log: Log
}

/** Whether the cluster has kpack; ask before the manager starts, because a watch on an absent kind never becomes ready. */
export async function kpackInstalled(client: Pick<KubeClient, 'get'>): Promise<boolean> {
  return (await client.get(customResourceDefinitions, { name: kpackBuildCrd })) !== undefined
}

/** The RemoteSync a build belongs to. An annotation is only a hint for waking: whose build it is says the uid label. */
function remoteSyncOfBuild(build: KubeObject): readonly ObjectKey[] {
  const [namespace, name] = build.metadata.annotations?.[ownerAnnotation]?.split('/') ?? []
  return namespace === undefined || name === undefined ? [] : [{ namespace, name }]
}

function buildPart(build: KpackBuild): unknown {
  const { conditions, stepsCompleted } = build.status ?? {}
  return [build.metadata.deletionTimestamp, stepsCompleted, conditions?.map(({ type, status }) => [type, status])]
}

/** Call before the manager starts: caches and indexes can only be added then. */
export function createRemoteSyncController(deps: RemoteSyncControllerDeps): ControllerDefinition {
  const { manager, kpack } = deps
  const caches: RemoteSyncCaches = {
    remoteSyncs: manager.cache(remoteSync),
    applications: manager.cache(application),
    installations: manager.cache(installation),
    grants: manager.cache(repositoryGrant),
    tenants: manager.cache(tenant),
  }
  addRemoteSyncIndexes(caches)
  const { client } = manager
  const { clock, log } = deps
  const scope = { labelSelector: ownerUidLabel }
  const builder: Builder = kpack.installed
    ? createKpackBuilder({ client, builds: manager.cache(kpackBuilds, scope), settings: kpack.settings, clock })
    : noBuilder
  const slots = createBuildSlots(builder, clock)
  const status = createStatusWriter({
    type: remoteSync,
    fieldManager,
    client,
    cache: caches.remoteSyncs,
    events: deps.events,
    normalReasons: [reasons.waitingForGrant, reasons.queued, reasons.fetching, reasons.building, reasons.rollingOut],
    includesMessage: true,
  })
  const all: RemoteSyncDeps = {
    ...deps,
    client,
    caches,
    status,
    builder,
    slots,
    openRepository: ({ endpoints, token }) => createRepositoryClient({ endpoints, token, log, clock }),
  }
  const keysOf = (index: string, value: string): readonly ObjectKey[] => caches.remoteSyncs.byIndex(index, value).map(keyOf)
  const byName = (index: string) => (object: KubeObject) =>
    keysOf(index, namespaced(object.metadata.namespace, object.metadata.name))
  const checks = new Map<string, number>()
  const builds = watches(kpackBuilds, build => [...remoteSyncOfBuild(build), ...slots.waiting()], {
    ...scope,
    predicate: partChanged(buildPart),
  })
  return {
    name: 'remote-sync',
    for: remoteSync,
    owns: [repositoryGrant],
    watches: [
      watches(application, byName(targetIndex), {
        predicate: partChanged(({ metadata, spec, status }) => [
          metadata.generation,
          metadata.deletionTimestamp,
          spec.image,
          status?.image,
          status?.availableAt,
          findCondition(status?.conditions, 'Ready'),
        ]),
      }),
      watches(installation, byName(installationIndex), {
        predicate: partChanged(({ status }) => findCondition(status?.conditions, 'Ready')?.status),
      }),
      watches(tenant, ({ spec }) => caches.remoteSyncs.list(spec.namespace).map(keyOf), {
        predicate: partChanged(({ status, spec }) => [status?.buildNamespace, spec.limits]),
      }),
      // A RemoteSync that goes frees its Application for another one.
      watches(remoteSync, item => keysOf(targetIndex, namespaced(item.metadata.namespace, item.spec.application)), {
        predicate: ({ old, new: present }) =>
          old !== undefined && (present === undefined || old.spec.application !== present.spec.application),
      }),
      ...(kpack.installed ? [builds] : []),
    ],
    // A fetch may take its two minutes, and a token and a build are asked for besides.
    timeoutMilliseconds: 240_000,
    resyncMilliseconds: deps.sweepMilliseconds,
    reconcile: context => reconcileRemoteSync(all, checks, context),
  }
}
