// The kpack Build for a request. Pure. Bare (without a kpack Image), so that queue, supersede and cancel are ours.
// Its source is the source store's address and the full commit id; its ServiceAccount holds no credential and its pod no token.
import { labels } from '../../api/names.ts'
import type { BuildOwner, BuildRequest } from '../builder.ts'
import { type KpackBuild, kpackBuilds } from './resources.ts'

export type KpackSettings = {
  /** Where images go, `host:port` or `host/path`; plain http only for private addresses (kpack decides that by the address). */
  readonly registry: string
  readonly clusterBuilder: string
  readonly serviceAccount: string
  readonly resources: { readonly cpuRequest: string; readonly memoryRequest: string; readonly memoryLimit: string }
}

/** Whose build it is. The uid is checked whenever a build is read (builds without the label are not cached); the name only wakes the right RemoteSync. */
export const ownerAnnotation = labels.remoteSync
export const ownerUidLabel = `${labels.remoteSync}-uid`

export function ownerText(owner: Pick<BuildOwner, 'namespace' | 'name'>): string {
  return `${owner.namespace}/${owner.name}`
}

/** `<registry>/<tenant namespace>/<application>`: a tenant's builds cannot name another's repository. */
export function imageRepository(registry: string, owner: BuildOwner, application: string): string {
  return `${registry}/${owner.namespace}/${application}`
}

export type BuilderImage = { readonly image: string; readonly stack?: string }

export function kpackBuildManifest(
  request: BuildRequest,
  builder: BuilderImage,
  settings: KpackSettings,
): Omit<KpackBuild, 'status'> {
  const { key, owner, source } = request
  const repository = imageRepository(settings.registry, owner, request.application)
  const { cpuRequest, memoryRequest, memoryLimit } = settings.resources
  const lastBuild =
    request.previousImage === undefined
      ? {}
      : { lastBuild: { image: request.previousImage, ...(builder.stack === undefined ? {} : { stackId: builder.stack }) } }
  return {
    apiVersion: kpackBuilds.apiVersion,
    kind: kpackBuilds.kind,
    metadata: {
      name: key.name,
      namespace: key.namespace,
      labels: { [ownerUidLabel]: owner.uid, [labels.application]: request.application, [labels.managedBy]: 'sekisho' },
      annotations: { [ownerAnnotation]: ownerText(owner) },
    },
    spec: {
      tags: [`${repository}:${key.name}`],
      serviceAccountName: settings.serviceAccount,
      builder: { image: builder.image },
      cache: { registry: { tag: `${repository}:cache-${owner.uid}` } },
      source: {
        git: { url: source.url, revision: source.commit },
        ...(source.subPath === undefined ? {} : { subPath: source.subPath }),
      },
      activeDeadlineSeconds: request.timeoutSeconds,
      env: request.env.map(({ name, value }) => ({ name, value })),
      resources: { requests: { cpu: cpuRequest, memory: memoryRequest }, limits: { memory: memoryLimit } },
      ...lastBuild,
    },
  }
}
