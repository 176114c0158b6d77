// The builder that uses kpack: one Build without an Image for one commit; deleting the Build cancels it. Only this folder knows
// how kpack behaves. Builds live in the tenant's build namespace, where the tenant has no rights.
import { customResourceDefinitions } from '../../../api/builtin/index.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import type { Clock } from '../../../lib/clock.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { Builder } from '../builder.ts'
import { createObjectBuilder, logOfStep, type ObjectBuilderDeps } from '../object-builder.ts'
import { type BuilderImage, type KpackSettings, kpackBuildManifest, pushesOf } from './build-manifest.ts'
import { type BuildEvidence, builtImage, failedStep, hasEnded, hasFailed, readBuildState } from './build-state.ts'
import { commitOfImage, type LabelAnswer } from './image-commit.ts'
import { clusterBuilders, isRebase, type KpackBuild, kpackBuildCrd, kpackBuilds, stepsOf } from './resources.ts'

export type KpackDeps = ObjectBuilderDeps & {
  /** The builds of `buildScope`. */
  readonly builds: Cache<KpackBuild>
  readonly settings: KpackSettings
  readonly clock: Clock
  /** Reads the labels of an image that is named by its digest. Never rejects. */
  readonly labelsOf: (image: string) => Promise<LabelAnswer>
}

type OfClient = { readonly client: Pick<KubeClient, 'get'> }

/** The image of a builder, or why there is none. Without a name: that of the platform. */
export async function builderImage(
  { client, settings }: OfClient & Pick<KpackDeps, 'settings'>,
  name: string | undefined,
): Promise<BuilderImage | string> {
  const configured = name === undefined ? settings.clusterBuilder : settings.builders.get(name)
  if (configured === undefined) return `there is no builder ${name} any more: ask a platform admin, or name another one`
  // A name of Kubernetes has no slash, and the name of an image has one.
  if (configured.includes('/')) return { configured, image: configured }
  const builder = await client.get(clusterBuilders, { name: configured })
  if (!builder) return `there is no ClusterBuilder ${configured}: ask a platform admin to create it`
  const { latestImage: image, stack } = builder.status ?? {}
  if (image === undefined) return `ClusterBuilder ${configured} is not ready: ask a platform admin to check its conditions`
  return { configured, image, ...defined({ stack: stack?.id, runImage: stack?.runImage }) }
}

/** Call before the cache starts: it adds indexes. */
export function createKpackBuilder(deps: KpackDeps): Builder {
  const { client, builds, settings, clock, labelsOf } = deps

  async function evidenceOf(build: KpackBuild): Promise<BuildEvidence | undefined> {
    const image = builtImage(build)
    if (image !== undefined) return { proof: commitOfImage(await labelsOf(image)) }
    return hasFailed(build) ? failureOf(build) : undefined
  }

  /** The log may be gone with its pod; then kpack's own message is used. */
  async function failureOf({ metadata, ...build }: KpackBuild): Promise<BuildEvidence> {
    const key = { namespace: metadata.namespace ?? '', name: build.status?.podName ?? '' }
    return logOfStep(client, key, pod => failedStep({ metadata, ...build }, pod))
  }

  return createObjectBuilder(deps, {
    type: kpackBuilds,
    cache: builds,
    async manifest(request) {
      const image = await builderImage(deps, request.builder)
      return typeof image === 'string' ? image : kpackBuildManifest(request, image, settings)
    },
    secretEntries: { type: 'sekisho' },
    hasBegun: build => (build.status?.stepStates ?? []).length > 0,
    hasEnded,
    hasFailed,
    isRebase,
    stateOf: async build => readBuildState(build, await evidenceOf(build), clock.now()),
    logged(build) {
      const { url = '', revision = '' } = build.spec.source.git ?? {}
      return { commit: revision, pod: build.status?.podName, steps: stepsOf(build), pushes: pushesOf(build), sourceUrl: url }
    },
  })
}

/** Whether the cluster has kpack. Call before the manager starts: a watch on a kind that does not exist never becomes ready. */
export async function kpackInstalled(client: Pick<KubeClient, 'get'>): Promise<boolean> {
  return (await client.get(customResourceDefinitions, { name: kpackBuildCrd })) !== undefined
}
