// Rebases with kpack: a Build whose last build was on another run image exchanges the layers of the run image, in a pod with
// two steps. kpack decides so by the annotation with the reason. It looks for the first tag of the Build, not for the image, so
// that the image gets this tag before.
// Source: kpack v0.17.2, pkg/apis/build/v1alpha2/build_pod.go (rebasePod) and cmd/rebase
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { digestOf } from '../../../lib/text/image-digest.ts'
import { createBuildObject } from '../object-builder.ts'
import { buildLabels, ownerAnnotation } from '../owner.ts'
import type { RebaseRequest, Rebaser } from '../rebaser.ts'
import type { BuilderImage, KpackSettings } from './build-manifest.ts'
import { builderImage } from './kpack-builder.ts'
import { type ClusterBuilder, type KpackBuild, kpackBuilds, rebaseAnnotation, rebaseReason } from './resources.ts'

export type KpackRebaserDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create'>
  readonly clusterBuilders: Pick<Cache<ClusterBuilder>, 'get'>
  readonly fieldManager: string
  readonly settings: KpackSettings
  /** Gives an image of the registry one more tag. Never rejects. */
  readonly tagImage: (image: string, tag: string) => Promise<TagOutcome>
}

/** `absent` and `refused`: another try would have the same answer. */
type TagOutcome = { readonly kind: 'tagged' } | { readonly kind: 'absent' | 'refused' | 'unavailable'; readonly message: string }

/** It takes seconds. */
const timeoutSeconds = 300
/** kpack requires a source, which a rebase does not read. Source of the name: RFC 6761 §6.4 */
const noSource = 'https://source.invalid/'

/**
 * The Build to create. kpack rebases only where the stack of the last build is that of the builder, and builds otherwise: from
 * no source, which fails before any code runs. With the recorded stack, an image never gets the run image of another one.
 */
export function kpackRebaseManifest(
  { key, owner, application, image, commit, stack }: RebaseRequest,
  builder: BuilderImage,
  settings: KpackSettings,
): Omit<KpackBuild, 'status'> {
  return {
    apiVersion: kpackBuilds.apiVersion,
    kind: kpackBuilds.kind,
    metadata: {
      name: key.name,
      namespace: key.namespace,
      labels: buildLabels({ owner, application }),
      annotations: { [ownerAnnotation(owner.kind)]: `${owner.namespace}/${owner.name}`, [rebaseAnnotation]: rebaseReason },
    },
    spec: {
      tags: [`${settings.registry}/${owner.namespace}/${application}:${key.name}`],
      serviceAccountName: settings.serviceAccount,
      builder: { image: builder.image },
      source: { git: { url: noSource, revision: commit } },
      activeDeadlineSeconds: timeoutSeconds,
      resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } },
      lastBuild: { image, stackId: stack },
    },
  }
}

/** Of builders that are ClusterBuilders: nobody says when an image that is named directly changes its run image. */
export function createKpackRebaser(deps: KpackRebaserDeps): Rebaser {
  const { client, clusterBuilders, settings, fieldManager, tagImage } = deps
  return {
    baseOf(builder) {
      const name = builder === undefined ? settings.clusterBuilder : settings.builders.get(builder)
      if (name === undefined) return undefined
      const { id: stack, runImage: reference } = clusterBuilders.get({ name })?.status?.stack ?? {}
      const runImage = digestOf(reference)
      return stack === undefined || runImage === undefined ? undefined : { name, stack, runImage }
    },
    async start(request) {
      const builder = await builderImage(deps, request.builder)
      if (typeof builder === 'string') return { kind: 'refused', message: builder }
      const tagged = await tagImage(request.image, request.key.name)
      if (tagged.kind === 'unavailable') return { kind: 'refused', message: tagged.message }
      if (tagged.kind !== 'tagged') return { kind: 'impossible', message: tagged.message }
      const manifest = kpackRebaseManifest(request, builder, settings)
      const created = await createBuildObject({ client, type: kpackBuilds, fieldManager }, manifest, request.owner)
      if (created.kind === 'taken') return { kind: 'refused', message: created.message }
      return created.kind === 'refused' ? { kind: 'impossible', message: created.message } : { kind: 'started' }
    },
  }
}
