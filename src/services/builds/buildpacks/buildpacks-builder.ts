// The builder for buildpacks whose builds are pods of ours: one pod for one commit, with three containers where kpack has seven;
// deleting the pod cancels the build. Builds live in the tenant's build namespace, where the tenant has no rights. kpack still
// makes the builder image, rebases, and builds with builders of which too little is known (`known-builder.ts`).
import { buildpacksBuildLabel, buildpacksBuildContainers as containers } from '../../../api/buildpacks-build.ts'
import { type Pod, pods } from '../../../api/builtin/index.ts'
import { keyOf } from '../../../api/resource.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { withoutTag } from '../../../lib/text/image-digest.ts'
import type { Builder, BuildRequest } from '../builder.ts'
import { commitOfImage, type LabelAnswer } from '../kpack/image-commit.ts'
import { builderImage } from '../kpack/kpack-builder.ts'
import { createObjectBuilder, logOfStep, type ObjectBuilderDeps } from '../object-builder.ts'
import { hasEnded, hasFailed, hasStarted, wasStopped } from '../pods/pod-status.ts'
import { type KnownBuilder, knownBuilder } from './known-builder.ts'
import { type BuildpacksSettings, buildpacksPod, pushesOf, sourceOf } from './pod-manifest.ts'
import { builtImage, containerOf, type PodEvidence, readPodState } from './pod-state.ts'

/** Selects the pods of these builds. */
export const buildpacksScope = { labelSelector: buildpacksBuildLabel }

export type BuildpacksDeps = ObjectBuilderDeps & {
  /** The pods of `buildpacksScope`. */
  readonly pods: Cache<Pod>
  readonly settings: BuildpacksSettings
  readonly clock: Clock
  readonly log: Log
  /** Reads the labels of an image that is named by its digest. Never rejects. */
  readonly labelsOf: (image: string) => Promise<LabelAnswer>
}

export type BuildpacksBuilder = {
  readonly builder: Builder
  /** Whether it can build with the builder that the request names. */
  readonly canBuild: (request: BuildRequest) => Promise<boolean>
}

/** Call before the cache starts: it adds indexes. */
export function createBuildpacksBuilder(deps: BuildpacksDeps): BuildpacksBuilder {
  const { client, pods: cache, settings, clock, log, labelsOf } = deps

  /** What `canBuild` found, for the start of the same request. */
  const found = new WeakMap<BuildRequest, KnownBuilder | string>()

  async function builderOf(request: BuildRequest): Promise<KnownBuilder | string> {
    const builder = found.get(request) ?? (await readBuilder(request.builder))
    found.set(request, builder)
    return builder
  }

  async function readBuilder(name: string | undefined): Promise<KnownBuilder | string> {
    const builder = await builderImage(deps, name)
    if (typeof builder === 'string') return builder
    const [image, phases] = await Promise.all([labelsOf(withoutTag(builder.image)), labelsOf(settings.image)])
    return knownBuilder(builder, image, phases)
  }

  async function evidenceOf(pod: Pod): Promise<PodEvidence> {
    const image = builtImage(pod)
    if (image !== undefined) return { proof: commitOfImage(await labelsOf(image)) }
    return hasFailed(pod) ? { log: (await logOfStep(client, keyOf(pod), containerOf)).log } : {}
  }

  return {
    async canBuild(request) {
      const builder = await builderOf(request)
      if (typeof builder !== 'string') return true
      log.info({ build: request.key.name, builder: request.builder, reason: builder }, 'this build is left to kpack')
      return false
    },
    builder: createObjectBuilder(deps, {
      type: pods,
      cache,
      async manifest(request) {
        const builder = await builderOf(request)
        return typeof builder === 'string' ? builder.slice(0, 500) : buildpacksPod(request, builder, settings)
      },
      secretEntries: { type: 'sekisho' },
      hasBegun: pod => hasStarted(pod, containers.prepare),
      hasEnded,
      hasFailed,
      wasStopped,
      stateOf: async pod => readPodState(pod, await evidenceOf(pod), clock.now()),
      logged(pod) {
        const { url, commit } = sourceOf(pod)
        const steps = [containers.prepare, containers.build, containers.export]
        return { commit, pod: pod.metadata.name, steps, pushes: pushesOf(pod), sourceUrl: url }
      },
    }),
  }
}
