// Opens what lets images that nothing names leave the registry. It deletes with tokens that the platform signs for itself, one
// repository and one action each, or with the account of the tenant's builds where the registry has accounts of its own.
import { appPipeline } from '../../api/apps/app-pipeline.ts'
import { application } from '../../api/apps/application.ts'
import { remoteSync } from '../../api/apps/remote-sync.ts'
import { pods } from '../../api/builtin/index.ts'
import type { KubeObject } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import { periodic } from '../../lib/periodic.ts'
import type { Builder, BuildKey } from '../builds/builder.ts'
import { buildkitScope } from '../builds/buildkit/buildkit-builder.ts'
import { buildpacksScope } from '../builds/buildpacks/buildpacks-builder.ts'
import { buildScope } from '../builds/kpack/build-manifest.ts'
import { hasEnded as hasBuildEnded } from '../builds/kpack/build-state.ts'
import { type KpackBuild, kpackBuilds } from '../builds/kpack/resources.ts'
import { hasEnded as hasPodEnded } from '../builds/pods/pod-status.ts'
import type { ServiceDeps } from '../deps.ts'
import { type Part, partOf } from '../part.ts'
import type { RegistrySettings } from '../registry/config.ts'
import { splitRegistry } from '../registry/image-place.ts'
import type { OpenRegistry } from '../registry/open.ts'
import { createCooldowns } from './cooldowns.ts'
import { createImageClaims, type ImageClaims } from './image-claims.ts'
import { type BuildKind, lookAtCluster } from './look.ts'
import { createImageMetrics, type ImageMetrics } from './metrics.ts'
import { createEndedPreviews } from './pushes/ended-previews.ts'
import { createRecordingOfPushes } from './pushes/record-pushes.ts'
import { createRegistryImages } from './registry-images.ts'
import { removeUnused } from './remove-unused.ts'

export type OpenUnusedImages = Part & {
  /** Whoever is about to use an image that nothing names claims it here. */
  readonly claims: Pick<ImageClaims, 'claim'>
  /** Must be called before `start`. */
  readonly recordFrom: (builder: Pick<Builder, 'logged'>) => void
  /** Call before a build is deleted. Rejects when the database does not answer. */
  readonly recordNow: (build: BuildKey) => Promise<void>
}

/** A round without images that are due is two queries. */
const everyMilliseconds = 5_000
const uncounted: ImageMetrics = { count: () => {}, resting: () => {} }

/**
 * Call before the manager starts: it adds caches. Nothing runs before `start`. With SEKISHO_UNUSED_IMAGE_HOURS=0 pushes are
 * recorded and nothing is deleted.
 */
export function openUnusedImages(
  deps: ServiceDeps<Pick<RegistrySettings, 'registry' | 'registryAuthentication'> & { readonly unusedImageHours: number }>,
  registry: OpenRegistry,
  kpackInstalled: boolean,
): OpenUnusedImages {
  const { settings, store, manager, metrics, clock, log } = deps
  const { client, isLeader } = manager
  const { images } = store
  const { count, resting } = metrics === undefined ? uncounted : createImageMetrics(metrics)
  const periodMilliseconds = settings.unusedImageHours * 3_600_000
  const { host } = splitRegistry(settings.registry)
  const inhabitants = [manager.cache(tenant), manager.cache(application)]
  const remoteSyncs = manager.cache(remoteSync)
  const claims = createImageClaims(clock)
  const buildKinds = buildKindsOf(kpackInstalled)
  const shared = { registry: settings.registry, periodMilliseconds, isLeader, clock, log }
  const removal = {
    ...shared,
    images,
    registryImages: createRegistryImages(registry),
    look: (namespace: string, signal: AbortSignal) => lookAtCluster({ client, buildKinds }, namespace, signal),
    isEmptyCluster: () => inhabitants.every(cache => cache.list().length === 0),
    cooldowns: createCooldowns({ clock, log, observe: resting }),
    count,
    claims,
    onlyBuildsPush: settings.registryAuthentication === 'token-server',
  }
  let logged: Builder['logged'] = () => []
  const isOfPreview = ({ namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string }) => {
    const owner = remoteSyncs.get({ namespace, name })
    return owner?.metadata.uid === uid && controllerOf(owner)?.kind === appPipeline.kind
  }
  const recording = createRecordingOfPushes({ ...shared, images, builds: () => logged(), isOfPreview })
  const endPreviews = createEndedPreviews({
    images,
    remoteSyncs: () => remoteSyncs.list().flatMap(({ metadata }) => metadata.uid ?? []),
    clock,
  })
  const removing = periodic({
    name: 'deletion of unused images',
    everyMilliseconds,
    enabled: () => isLeader() && periodMilliseconds > 0,
    async work(signal) {
      await endPreviews(host)
      await removeUnused(removal, host, signal)
    },
    clock,
    log,
  })
  return {
    claims,
    recordFrom(builder) {
      logged = builder.logged
    },
    recordNow: recording.recordNow,
    ...partOf(recording, removing),
  }
}

/** Without kpack the API server does not know its kind. */
function buildKindsOf(kpackInstalled: boolean): readonly BuildKind[] {
  const inPods = [buildkitScope, buildpacksScope].map(scope => ({
    type: pods,
    ...scope,
    hasEnded: (pod: KubeObject) => hasPodEnded(pod),
  }))
  if (!kpackInstalled) return inPods
  return [{ type: kpackBuilds, ...buildScope, hasEnded: (build: KubeObject) => hasBuildEnded(build as KpackBuild) }, ...inPods]
}
