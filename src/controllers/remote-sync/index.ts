// Wires the RemoteSync controller: what it caches and what wakes it. Decides nothing.
import { application } from '../../api/apps/application.ts'
import { remoteSyncReasons as reasons, remoteSync } from '../../api/apps/remote-sync.ts'
import { installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { keyOf, keyText, type ObjectKey } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { createBuildLimiter } from '../../builds/build-limiter.ts'
import { buildScope, type KpackSettings, ownerKeys } from '../../builds/kpack/build-manifest.ts'
import { createKpackBuilder, type KpackDeps } from '../../builds/kpack/kpack-builder.ts'
import { type KpackBuild, kpackBuilds } from '../../builds/kpack/resources.ts'
import { noBuilder } from '../../builds/no-builder.ts'
import { createAnswerCache, createRepositoryClient } from '../../github/index.ts'
import { type ControllerDefinition, type Watch, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Log } from '../../lib/log.ts'
import { createStatusWriter } from '../status-writer.ts'
import { addRemoteSyncIndexes, installationIndex, type RemoteSyncCaches, targetIndex } from './gather.ts'
import { createLastChecks } from './last-checks.ts'
import { fieldManager, type RemoteSyncDeps, reconcileRemoteSync } from './reconcile.ts'

export type RemoteSyncControllerDeps = Pick<
  RemoteSyncDeps,
  'tokens' | 'endpointsOf' | 'sources' | 'clock' | 'sweepMilliseconds'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  /** `installed`: false when the cluster had no kpack at the start. */
  readonly kpack: { readonly installed: boolean; readonly settings: KpackSettings }
  /** Reads the labels of an image from the registry. */
  readonly labelsOf: KpackDeps['labelsOf']
  /** Builds that may run at once on the whole platform. */
  readonly platformBuilds: number
  readonly events: Pick<EventRecorder, 'record'>
  readonly log: Log
}

/** What of a build concerns its owner and the queue. */
function buildProgress(build: KpackBuild): unknown {
  const { conditions, stepsCompleted } = build.status ?? {}
  return [build.metadata.deletionTimestamp, stepsCompleted, conditions?.map(({ type, status }) => [type, status])]
}

/** What wakes a RemoteSync besides itself, its grant and its builds. */
function watched({ remoteSyncs }: RemoteSyncCaches): readonly Watch[] {
  const byIndex = (index: string, key: ObjectKey): readonly ObjectKey[] => remoteSyncs.byIndex(index, keyText(key)).map(keyOf)
  return [
    watches(application, item => byIndex(targetIndex, keyOf(item)), {
      predicate: partChanged(({ metadata, spec, status }) => [
        metadata.generation,
        metadata.deletionTimestamp,
        spec.image,
        status?.image,
        status?.availableAt,
        findCondition(status?.conditions, 'Ready'),
      ]),
    }),
    watches(installation, item => byIndex(installationIndex, keyOf(item)), {
      predicate: partChanged(({ status }) => findCondition(status?.conditions, 'Ready')?.status),
    }),
    watches(tenant, ({ spec }) => remoteSyncs.list(spec.namespace).map(keyOf), {
      predicate: partChanged(({ status, spec }) => [status?.buildNamespace, spec.limits]),
    }),
    // A RemoteSync that is deleted, or takes another Application, frees its Application for another RemoteSync.
    watches(remoteSync, item => byIndex(targetIndex, { ...keyOf(item), name: item.spec.application }), {
      predicate: ({ old, new: present }) =>
        old !== undefined && (present === undefined || old.spec.application !== present.spec.application),
    }),
  ]
}

/** Call before the manager starts: caches and indexes can only be added then. */
export function createRemoteSyncController(deps: RemoteSyncControllerDeps): ControllerDefinition {
  const { manager, kpack, clock, log, platformBuilds, labelsOf } = deps
  const { client } = manager
  const caches: RemoteSyncCaches = {
    remoteSyncs: manager.cache(remoteSync),
    applications: manager.cache(application),
    installations: manager.cache(installation),
    grants: manager.cache(repositoryGrant),
    tenants: manager.cache(tenant),
  }
  addRemoteSyncIndexes(caches)
  const { settings } = kpack
  const builder = kpack.installed
    ? createKpackBuilder({ client, builds: manager.cache(kpackBuilds, buildScope), settings, fieldManager, clock, labelsOf })
    : noBuilder
  const limiter = createBuildLimiter(builder, { clock, platformBuilds })
  const { kind } = remoteSync
  const builds = watches(kpackBuilds, build => [...ownerKeys(build, kind), ...limiter.queued(kind)], {
    ...buildScope,
    predicate: partChanged(buildProgress),
  })
  const status = createStatusWriter({
    type: remoteSync,
    fieldManager,
    client,
    cache: caches.remoteSyncs,
    events: deps.events,
    normalReasons: [reasons.waitingForGrant, reasons.queued, reasons.fetching, reasons.building, reasons.rollingOut],
    includesMessage: true,
  })
  const cache = createAnswerCache()
  const openRepository: RemoteSyncDeps['openRepository'] = ({ endpoints, token }, installationId) => {
    const answers = { cache, scope: `${endpoints.host}/${installationId}` }
    return createRepositoryClient({ endpoints, token, log, clock, answers })
  }
  const all = { ...deps, client, caches, lastChecks: createLastChecks(), openRepository, builder, limiter, status }
  return {
    name: 'remote-sync',
    for: remoteSync,
    owns: [repositoryGrant],
    watches: [...watched(caches), ...(kpack.installed ? [builds] : [])],
    // A fetch may take two minutes; requesting a token and creating a build come on top.
    timeoutMilliseconds: 240_000,
    resyncMilliseconds: deps.sweepMilliseconds,
    reconcile: context => reconcileRemoteSync(all, context),
  }
}
