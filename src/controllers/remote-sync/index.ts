// Wires the RemoteSync controller: what it caches and what wakes it. Decides nothing.
import { appSecret } from '../../api/apps/app-secret.ts'
import { application } from '../../api/apps/application.ts'
import { githubReport } from '../../api/apps/github-report.ts'
import { previewApproval } from '../../api/apps/preview-approval.ts'
import { applicationsOf } from '../../api/apps/remote-sync/applications.ts'
import { remoteSync } from '../../api/apps/remote-sync.ts'
import { pods } from '../../api/builtin/index.ts'
import { installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { type KubeObject, keyOf, keyText, type ObjectKey } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { createAnswerCache, createRepositoryClient, type GitHubMeter } from '../../github/index.ts'
import { type ControllerDefinition, type Watch, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { defined } from '../../lib/json/defined.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { Log } from '../../lib/log.ts'
import { createBuildSecrets } from '../../services/builds/build-secrets.ts'
import type { Builder, BuildKey } from '../../services/builds/builder.ts'
import { type BuildkitDeps, buildkitScope, createBuildkitBuilder } from '../../services/builds/buildkit/buildkit-builder.ts'
import { buildProgress, commitOfRevision } from '../../services/builds/buildkit/pod-state.ts'
import { buildpacksScope, createBuildpacksBuilder } from '../../services/builds/buildpacks/buildpacks-builder.ts'
import type { BuildpacksSettings } from '../../services/builds/buildpacks/pod-manifest.ts'
import { buildProgress as buildpacksProgress } from '../../services/builds/buildpacks/pod-state.ts'
import { chooseBuilder } from '../../services/builds/choose-builder.ts'
import { buildScope, type KpackSettings } from '../../services/builds/kpack/build-manifest.ts'
import { commitOfImage } from '../../services/builds/kpack/image-commit.ts'
import { createKpackBuilder, type KpackDeps } from '../../services/builds/kpack/kpack-builder.ts'
import { createKpackRebaser, type KpackRebaserDeps } from '../../services/builds/kpack/kpack-rebaser.ts'
import { clusterBuilders, type KpackBuild, kpackBuilds } from '../../services/builds/kpack/resources.ts'
import { type BuildCounts, createBuildLimiter } from '../../services/builds/limits/build-limiter.ts'
import { buildkitMissing, kpackMissing, noBuilder } from '../../services/builds/no-builder.ts'
import { ownerKeys } from '../../services/builds/owner.ts'
import { noRebaser, type Rebaser } from '../../services/builds/rebaser.ts'
import { recordingBuilder } from '../../services/builds/recording-builder.ts'
import { reportInStatus, withMissingRights } from '../kit/missing-right.ts'
import { createReportWait, reportEnds, reportsOfFollower } from '../kit/reconcile-with-finalizer.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { fieldManager } from './deployment/apply-image.ts'
import { addRemoteSyncIndexes, applicationKeys, installationIndex, type RemoteSyncCaches, targetIndex } from './gather.ts'
import { createLastChecks } from './last-checks.ts'
import { createRecentPreviews } from './promotion/recent-previews.ts'
import { type RemoteSyncDeps, reconcileRemoteSync } from './reconcile.ts'
import { approvedSync } from './source/fork-wall.ts'

export type RemoteSyncControllerDeps = Pick<
  RemoteSyncDeps,
  'tokens' | 'endpointsOf' | 'sources' | 'clock' | 'sweepMilliseconds' | 'offer' | 'prepareRollout' | 'imageClaims'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  /** `installed`: false when the cluster had no kpack at the start. */
  readonly kpack: { readonly installed: boolean; readonly settings: KpackSettings }
  /** Collects the logs of what the builder builds. */
  readonly logs: { readonly collectFrom: (builder: Pick<Builder, 'logged'>) => void }
  /** Undefined when Dockerfiles are not built. */
  readonly buildkit: Pick<BuildkitDeps, 'settings' | 'plainHttp'> | undefined
  /** Undefined when kpack runs the phases of builds with buildpacks. */
  readonly buildpacks: Pick<BuildpacksSettings, 'image' | 'credential'> | undefined
  /** Reads the labels of an image from the registry. */
  readonly labelsOf: KpackDeps['labelsOf']
  /** The same, not remembered. */
  readonly freshLabelsOf: KpackDeps['labelsOf']
  /** Records what a build pushes; called before the build is deleted. May reject. */
  readonly recordPushes: (build: BuildKey) => Promise<void>
  /** Undefined when images keep the run image with which they were built. */
  readonly tagImage: KpackRebaserDeps['tagImage'] | undefined
  readonly meter?: GitHubMeter | undefined
  /** How many builds run and wait here; called once. */
  readonly countedBy?: ((count: () => BuildCounts) => void) | undefined
  /** Builds that may run at once on the whole platform. */
  readonly platformBuilds: number
  readonly events: Pick<EventRecorder, 'record'>
  readonly log: Log
}

/** What of a build concerns its owner and the queue. */
function kpackProgress(build: KpackBuild): unknown {
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
        status?.latestRelease,
        status?.releaseJob?.state,
        findCondition(status?.conditions, 'Ready'),
      ]),
    }),
    watches(installation, item => byIndex(installationIndex, keyOf(item)), {
      predicate: partChanged(({ status }) => findCondition(status?.conditions, 'Ready')?.status),
    }),
    watches(tenant, ({ spec }) => remoteSyncs.list(spec.namespace).map(keyOf), {
      predicate: partChanged(({ status, spec }) => [status?.buildNamespace, spec.limits, spec.builder]),
    }),
    // A build waits for an AppSecret that is missing.
    watches(
      appSecret,
      ({ metadata }) =>
        remoteSyncs
          .list(metadata.namespace ?? '')
          .filter(({ spec }) => spec.build.secrets?.includes(metadata.name))
          .map(keyOf),
      { predicate: ({ old, new: present }) => (old === undefined) !== (present === undefined) },
    ),
    // The commit of a fork waits for its approval, and is not built any more without it. The name begins with that of the
    // RemoteSync.
    watches(previewApproval, item => approvedSync(keyOf(item)), {
      predicate: partChanged(({ metadata }) => metadata.deletionTimestamp),
    }),
    // A RemoteSync that is deleted, or takes other Applications, frees them for another RemoteSync.
    watches(remoteSync, item => applicationKeys(item).flatMap(key => byIndex(targetIndex, key)), {
      predicate: ({ old, new: present }) =>
        old !== undefined && (present === undefined || !sameJson(applicationsOf(old.spec), applicationsOf(present.spec))),
    }),
  ]
}

/** What builds, for every strategy. What a build pushes is recorded before the build is deleted. Call before the caches start. */
function builderOf({
  manager,
  kpack,
  buildkit,
  buildpacks,
  clock,
  labelsOf,
  recordPushes,
  log,
}: RemoteSyncControllerDeps): Builder {
  const { client } = manager
  const { settings } = kpack
  const shared = { client, fieldManager, clock, labelsOf, secrets: createBuildSecrets({ client }) }
  const dockerfiles = buildkit
    ? createBuildkitBuilder({ ...shared, ...buildkit, pods: manager.cache(pods, buildkitScope) })
    : noBuilder(buildkitMissing)
  const inKpack = kpack.installed
    ? createKpackBuilder({ ...shared, builds: manager.cache(kpackBuilds, buildScope), settings })
    : noBuilder(kpackMissing)
  const inPods =
    kpack.installed && buildpacks
      ? createBuildpacksBuilder({
          ...shared,
          log,
          pods: manager.cache(pods, buildpacksScope),
          settings: { ...settings, ...buildpacks },
        })
      : undefined
  const all = [...(inPods === undefined ? [] : [inPods.builder]), inKpack, dockerfiles]
  const builders = chooseBuilder(all, async request => {
    if (request.strategy === 'Dockerfile') return dockerfiles
    return inPods !== undefined && (await inPods.canBuild(request)) ? inPods.builder : inKpack
  })
  return recordingBuilder(builders, recordPushes, log)
}

function rebaserOf({ manager, kpack: { installed, settings }, tagImage }: RemoteSyncControllerDeps): Rebaser {
  if (!installed || tagImage === undefined) return noRebaser
  const { client } = manager
  return createKpackRebaser({ client, fieldManager, settings, tagImage, clusterBuilders: manager.cache(clusterBuilders) })
}

/** All that build with buildpacks: which builder each of them means is decided later. */
function newRunImage({ remoteSyncs }: RemoteSyncCaches): Watch {
  const built = (): readonly ObjectKey[] =>
    remoteSyncs
      .list()
      .filter(({ spec }) => spec.build.strategy === 'Buildpacks')
      .map(keyOf)
  return watches(clusterBuilders, built, { predicate: partChanged(({ status }) => [status?.stack?.id, status?.stack?.runImage]) })
}

/** Call before the manager starts: caches and indexes can only be added then. */
export function createRemoteSyncController(deps: RemoteSyncControllerDeps): ControllerDefinition {
  const { manager, kpack, buildkit, buildpacks, clock, log, platformBuilds } = deps
  const { client } = manager
  const caches: RemoteSyncCaches = {
    remoteSyncs: manager.cache(remoteSync),
    applications: manager.cache(application),
    installations: manager.cache(installation),
    grants: manager.cache(repositoryGrant),
    tenants: manager.cache(tenant),
    appSecrets: manager.cache(appSecret),
    previewApprovals: manager.cache(previewApproval),
  }
  addRemoteSyncIndexes(caches)
  const builder = builderOf(deps)
  const rebaser = rebaserOf(deps)
  const limiter = createBuildLimiter(builder, { clock, platformBuilds })
  deps.countedBy?.(limiter.counts)
  deps.logs.collectFrom(builder)
  const { kind } = remoteSync
  const wakes = (build: KubeObject): readonly ObjectKey[] => {
    const next = limiter.nextRebase(kind, build.metadata.namespace ?? '')
    return [...ownerKeys(build, kind), ...limiter.queued(kind), ...(next === undefined ? [] : [next])]
  }
  const builds = [
    ...(kpack.installed ? [watches(kpackBuilds, wakes, { ...buildScope, predicate: partChanged(kpackProgress) })] : []),
    ...(rebaser === noRebaser ? [] : [newRunImage(caches)]),
    ...(buildkit ? [watches(pods, wakes, { ...buildkitScope, predicate: partChanged(buildProgress) })] : []),
    ...(buildpacks ? [watches(pods, wakes, { ...buildpacksScope, predicate: partChanged(buildpacksProgress) })] : []),
  ]
  const status = createStatusWriter({
    type: remoteSync,
    fieldManager,
    client,
    cache: caches.remoteSyncs,
    events: deps.events,
    includesMessage: true,
  })
  const cache = createAnswerCache()
  const openRepository: RemoteSyncDeps['openRepository'] = ({ endpoints, token }, installationId) => {
    const answers = { cache, scope: `${endpoints.host}/${installationId}` }
    const observe = deps.meter?.ofInstallation(endpoints.host, installationId)
    return createRepositoryClient({ endpoints, token, log, clock, answers, ...defined({ observe }) })
  }
  const proofOf: RemoteSyncDeps['proofOf'] = async (strategy, image) => {
    const answer = await deps.freshLabelsOf(image)
    return strategy === 'Dockerfile' ? commitOfRevision(answer) : commitOfImage(answer)
  }
  const recentPreviews = createRecentPreviews(clock)
  const all = {
    ...deps,
    proofOf,
    recentPreviews,
    client,
    caches,
    lastChecks: createLastChecks(),
    openRepository,
    builder,
    rebaser,
    limiter,
    status,
    awaitReports: createReportWait(reportsOfFollower(manager.cache(githubReport)), clock),
  }
  const definition: ControllerDefinition = {
    name: 'remote-sync',
    for: remoteSync,
    owns: [repositoryGrant],
    watches: [...watched(caches), ...builds, reportEnds(kind)],
    // A fetch may take two minutes; requesting a token and creating a build come on top.
    timeoutMilliseconds: 240_000,
    resyncMilliseconds: deps.sweepMilliseconds,
    reconcile: context => reconcileRemoteSync(all, context),
  }
  return withMissingRights(definition, { cache: caches.remoteSyncs, says: reportInStatus(status, clock), clock })
}
