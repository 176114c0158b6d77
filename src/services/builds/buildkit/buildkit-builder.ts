// The builder that uses BuildKit, for repositories with a Dockerfile: one pod for one commit; deleting the pod cancels the
// build. Builds live in the tenant's build namespace, where the tenant has no rights.
import { type Pod, pods } from '../../../api/builtin/index.ts'
import { dockerfileBuildContainers as containers, dockerfileBuildLabel } from '../../../api/dockerfile-build.ts'
import { keyOf } from '../../../api/resource.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { Clock } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/errors.ts'
import type { Builder } from '../builder.ts'
import type { LabelAnswer } from '../kpack/image-commit.ts'
import { createObjectBuilder, logOfStep, type ObjectBuilderDeps } from '../object-builder.ts'
import { hasEnded, hasFailed, hasStarted, wasStopped } from '../pods/pod-status.ts'
import { type BuildkitSettings, buildkitPod, pushesOf, sourceOf } from './pod-manifest.ts'
import { builtImage, commitOfRevision, type PodEvidence, readPodState, stepOf } from './pod-state.ts'

/** Selects the pods of Dockerfile builds. */
export const buildkitScope = { labelSelector: dockerfileBuildLabel }

export type BuildkitDeps = ObjectBuilderDeps & {
  /** The pods of `buildkitScope`. */
  readonly pods: Cache<Pod>
  readonly settings: BuildkitSettings
  readonly clock: Clock
  /** Reads the labels of an image that is named by its digest. Never rejects. */
  readonly labelsOf: (image: string) => Promise<LabelAnswer>
  /** Whether the registry speaks HTTP without TLS. Rejects while it does not answer. */
  readonly plainHttp: () => Promise<boolean>
}

/** Call before the cache starts: it adds indexes. */
export function createBuildkitBuilder(deps: BuildkitDeps): Builder {
  const { client, pods: cache, settings, clock, labelsOf, plainHttp } = deps

  async function evidenceOf(pod: Pod): Promise<PodEvidence> {
    const image = builtImage(pod)
    if (image !== undefined) return { proof: commitOfRevision(await labelsOf(image)) }
    return hasFailed(pod) ? { log: (await logOfStep(client, keyOf(pod), stepOf)).log } : {}
  }

  return createObjectBuilder(deps, {
    type: pods,
    cache,
    async manifest(request) {
      const plain = await plainHttp().catch((error: unknown) => `the image registry does not answer: ${messageOf(error)}`)
      return typeof plain === 'string' ? plain.slice(0, 500) : buildkitPod(request, settings, plain)
    },
    hasBegun: pod => hasStarted(pod, containers.source),
    hasEnded,
    hasFailed,
    wasStopped,
    stateOf: async pod => readPodState(pod, await evidenceOf(pod), clock.now()),
    logged(pod) {
      const { url, commit } = sourceOf(pod)
      const steps = [containers.source, containers.build]
      return { commit, pod: pod.metadata.name, steps, pushes: pushesOf(pod), sourceUrl: url }
    },
  })
}
