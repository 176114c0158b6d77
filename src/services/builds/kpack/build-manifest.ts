// The kpack Build for a request, and whose it is. Pure. It has no kpack Image above it, so the platform itself queues, supersedes and cancels.
// Its source is the source store's address and the full commit id; its ServiceAccount holds the tenant's registry credential, which kpack gives
// to its own steps only, and its pod no token.
import { domain } from '../../../api/kind.ts'
import { labels } from '../../../api/names.ts'
import { type KubeObject, keyText, type ObjectKey, parseKey } from '../../../api/resource.ts'
import { defined } from '../../../lib/json/defined.ts'
import { buildSecretName } from '../build-secrets.ts'
import type { BuildOwner, BuildRequest, BuiltBy, LoggedBuild } from '../builder.ts'
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

/** `sekisho.dev/remote-sync` for the kind RemoteSync. Existing Builds carry these keys: they must not change. */
export function ownerAnnotation(kind: string): string {
  return `${domain}/${kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}`
}

export function ownerUidLabel(kind: string): string {
  return `${ownerAnnotation(kind)}-uid`
}

/** Whether a build belongs to this very object. Checked whenever a build is read. */
export function belongsTo(build: KubeObject, owner: Pick<BuildOwner, 'kind' | 'uid'>): boolean {
  return build.metadata.labels?.[ownerUidLabel(owner.kind)] === owner.uid
}

/** The uid of the owner, whatever its kind: builds are indexed by it. */
export function ownerUids(build: KubeObject): readonly string[] {
  const found = Object.entries(build.metadata.labels ?? {})
  return found.filter(([label]) => label.startsWith(`${domain}/`) && label.endsWith('-uid')).map(([, uid]) => uid)
}

/** The key of the owner if it is of this kind. It serves to wake a controller only; who owns the build is decided by `belongsTo`. */
export function ownerKeys(build: KubeObject, kind: string): readonly ObjectKey[] {
  const owner = build.metadata.annotations?.[ownerAnnotation(kind)]
  return owner === undefined ? [] : [parseKey(owner)]
}

/** The uid of the owner of this kind. */
export function ownerUidOf(build: KubeObject, kind: string): string {
  return build.metadata.labels?.[ownerUidLabel(kind)] ?? ''
}

/** Indexes a build by the keys that its annotations name. */
export function ownerKeyTexts(build: KubeObject): readonly string[] {
  const found = Object.entries(build.metadata.annotations ?? {})
  return found.filter(([name]) => name.startsWith(`${domain}/`)).map(([name, key]) => `${name} ${key}`)
}

/** What `ownerKeyTexts` holds for the builds of this kind and key. */
export function ownerKeyText(kind: string, key: ObjectKey): string {
  return `${ownerAnnotation(kind)} ${keyText(key)}`
}

// Annotations below `sekisho.dev/` name owners.
const attemptAnnotation = 'builds.sekisho.dev/attempt'
/** Which AppSecrets a Build gets, separated by commas. */
export const secretsAnnotation = 'builds.sekisho.dev/secrets'

/** The builder as it is configured: what a RemoteSync or its Tenant names may mean another one by the end of the build. */
const builderAnnotation = 'builds.sekisho.dev/builder'

/** What built the image; undefined while its stack is not known. */
export function builderOf({ metadata, status }: KpackBuild): BuiltBy | undefined {
  const name = metadata.annotations?.[builderAnnotation]
  const stack = status?.stack?.id
  return name === undefined || stack === undefined ? undefined : { name, stack }
}

/** What the object of a build says about the build, besides its owner: for who reads its log. */
export function requestAnnotations({ owner, attempt, secrets }: BuildRequest): Readonly<Record<string, string>> {
  return {
    [ownerAnnotation(owner.kind)]: keyText({ namespace: owner.namespace, name: owner.name }),
    [attemptAnnotation]: String(attempt),
    ...(secrets.length === 0 ? {} : { [secretsAnnotation]: secrets.join(',') }),
  }
}

/** How the log of the build is read; undefined for one of another kind of owner. */
export function loggedBuild(
  { metadata }: KubeObject,
  more: Pick<LoggedBuild, 'commit' | 'pod' | 'steps' | 'result' | 'masked' | 'pushes'>,
): LoggedBuild | undefined {
  const owner = metadata.annotations?.[ownerAnnotation('RemoteSync')]
  if (owner === undefined) return undefined
  const { namespace = '', name } = parseKey(owner)
  return {
    id: metadata.uid ?? '',
    key: { namespace: metadata.namespace ?? '', name: metadata.name },
    owner: { kind: 'RemoteSync', namespace, name, uid: metadata.labels?.[ownerUidLabel('RemoteSync')] ?? '' },
    attempt: Number(metadata.annotations?.[attemptAnnotation] ?? 1) || 1,
    createdAt: new Date(metadata.creationTimestamp ?? 0),
    secrets: (metadata.annotations?.[secretsAnnotation] ?? '').split(',').filter(text => text !== ''),
    ...more,
  }
}

/** The image of a builder as it is configured, and its stack, without which layers of earlier builds are not reused. */
export type BuilderImage = { readonly configured: string; readonly image: string; readonly stack?: string }

/** The tag of the cache of all builds of this owner. Caches that exist have it: it must not change. */
function cacheTag(repository: string, ownerUid: string): string {
  return `${repository}:cache-${ownerUid}`
}

/** What a Build pushes. */
export function pushesOf(build: KpackBuild): LoggedBuild['pushes'] {
  const [image = ''] = build.spec.tags
  return { image, cache: cacheTag(image.slice(0, image.lastIndexOf(':')), ownerUidOf(build, 'RemoteSync')) }
}

/** The Build to create. Images go to `<registry>/<tenant namespace>/<application>`, so a tenant's builds cannot name another's repository. */
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
      labels: {
        [ownerUidLabel(owner.kind)]: owner.uid,
        [labels.application]: request.application,
        [labels.managedBy]: 'sekisho',
      },
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
      env: request.env.map(({ name, value }) => ({ name, value })),
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
