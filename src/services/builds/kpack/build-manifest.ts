// The kpack Build for a request. Pure. It has no kpack Image above it, so the platform itself queues, supersedes and cancels.
// Its source is the source store's address and the full commit id; its ServiceAccount holds the tenant's registry credential,
// which kpack gives to its own steps only, and its pod no token.
import { labels } from '../../../api/names.ts'
import { literal } from '../../../api/pods/literal.ts'
import { defined } from '../../../lib/json/defined.ts'
import { buildSecretName } from '../build-secrets.ts'
import type { BuildRequest, BuiltBy, LoggedBuild } from '../builder.ts'
import { buildLabels, ownerUidOf, requestAnnotations } from '../owner.ts'
import { type KpackBuild, kpackBuilds } from './resources.ts'

export type KpackSettings = {
  /** Where images go, `host:port` or `host/path`; plain http only for private addresses (kpack decides that by the address). */
  readonly registry: string
  readonly clusterBuilder: string
  /** The builders that RemoteSyncs and Tenants may name: an image, or the name of a ClusterBuilder. */
  readonly builders: ReadonlyMap<string, string>
  readonly serviceAccount: string
  readonly resources: { readonly cpuRequest: string; readonly memoryRequest: string; readonly memoryLimit: string }
}

/** Selects the builds of the platform, whatever kind owns them. */
export const buildScope = { labelSelector: `${labels.managedBy}=sekisho` }

/** The builder as it is configured: what a RemoteSync or its Tenant names may mean another one by the end of the build. */
export const builderAnnotation = 'builds.sekisho.dev/builder'

/** What built the image; undefined while its stack is not known. */
export function builderOf({ metadata, status }: KpackBuild): BuiltBy | undefined {
  const name = metadata.annotations?.[builderAnnotation]
  const stack = status?.stack?.id
  return name === undefined || stack === undefined ? undefined : { name, stack }
}

/**
 * The image of a builder as it is configured, its stack, without which layers of earlier builds are not reused, and the run image
 * on which it builds.
 */
export type BuilderImage = {
  readonly configured: string
  readonly image: string
  readonly stack?: string
  readonly runImage?: string
}

/** The tag of the cache of all builds of this owner. Caches that exist have it: it must not change. */
export function cacheTag(repository: string, ownerUid: string): string {
  return `${repository}:cache-${ownerUid}`
}

/** What a Build pushes. */
export function pushesOf(build: KpackBuild): LoggedBuild['pushes'] {
  const [image = ''] = build.spec.tags
  return { image, cache: cacheTag(image.slice(0, image.lastIndexOf(':')), ownerUidOf(build, 'RemoteSync')) }
}

/**
 * The Build to create. Images go to `<registry>/<tenant namespace>/<application>`, so a tenant's builds cannot name another's
 * repository.
 */
export function kpackBuildManifest(
  request: BuildRequest,
  builder: BuilderImage,
  settings: KpackSettings,
): Omit<KpackBuild, 'status'> {
  const { key, owner, source } = request
  const repository = `${settings.registry}/${owner.namespace}/${request.application}`
  const { cpuRequest, memoryRequest, memoryLimit } = settings.resources
  const { cpu, memory, ephemeralStorage } = request.resources
  const lastBuild =
    request.previousImage === undefined
      ? {}
      : { lastBuild: { image: request.previousImage, ...defined({ stackId: builder.stack }) } }
  return {
    apiVersion: kpackBuilds.apiVersion,
    kind: kpackBuilds.kind,
    metadata: {
      name: key.name,
      namespace: key.namespace,
      labels: buildLabels(request),
      annotations: { ...requestAnnotations(request), [builderAnnotation]: builder.configured },
    },
    spec: {
      tags: [`${repository}:${key.name}`],
      serviceAccountName: settings.serviceAccount,
      builder: { image: builder.image },
      cache: { registry: { tag: cacheTag(repository, owner.uid) } },
      source: {
        git: { url: source.url, revision: source.commit },
        ...defined({ subPath: source.subPath }),
      },
      activeDeadlineSeconds: request.timeoutSeconds,
      // kpack makes variables of the pod of them.
      env: request.env.map(({ name, value }) => ({ name, value: literal(value) })),
      resources: {
        // Memory that was asked for is reserved, so that the node has it.
        requests: { cpu: cpu ?? cpuRequest, memory: memory ?? memoryRequest },
        limits: {
          memory: memory ?? memoryLimit,
          ...defined({ 'ephemeral-storage': ephemeralStorage }),
        },
      },
      ...(request.secrets.length === 0
        ? {}
        : { services: [{ apiVersion: 'v1', kind: 'Secret', name: buildSecretName(key.name) }] }),
      ...lastBuild,
    },
  }
}
