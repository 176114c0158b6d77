// What a build pushes, as records: only tags in the registry of the platform and below the path of the build's own tenant. Pure.
import type { PushedImage } from '../../../store/builds/image-records.ts'
import { splitRegistry } from '../../registry/image-place.ts'
import { isRepositoryName } from '../../registry/repository.ts'
import { tenantPath } from '../../registry/token-server/access.ts'

/** What of a build says what it pushes. */
export type PushingBuild = {
  readonly id: string
  readonly key: { readonly namespace: string; readonly name: string }
  readonly owner: { readonly namespace: string; readonly name: string; readonly uid: string }
  /** References by tag. */
  readonly pushes: { readonly image: string; readonly cache: string }
}

type Reference = { readonly repository: string; readonly tag: string }

/** Source: https://github.com/opencontainers/distribution-spec/blob/main/spec.md (tags) */
const tagPattern = /^\w[\w.-]{0,127}$/
const cacheTag = /^cache-(dockerfile-)?(?<owner>[0-9a-f]{8}-[0-9a-f-]{27})$/

/** True for `<path of the tenant>/<application>`, where builds push and nothing else is: no other repository is ever touched. */
export function isBuildRepository(registry: string, namespace: string, repository: string): boolean {
  const path = `${tenantPath({ tenants: splitRegistry(registry).path, platform: [] }, namespace)}/`
  const application = repository.slice(path.length)
  return repository.startsWith(path) && isRepositoryName(repository) && application !== '' && !application.includes('/')
}

function parsed(reference: string, host: string): Reference | undefined {
  const colon = reference.lastIndexOf(':')
  const tag = reference.slice(colon + 1)
  if (!reference.startsWith(`${host}/`) || colon <= host.length || !tagPattern.test(tag)) return undefined
  return { repository: reference.slice(host.length + 1, colon), tag }
}

/** `registry` is the setting, such as `registry.example.com/apps`. What a build pushes elsewhere is left out. */
export function pushedImages({ id, owner, pushes }: PushingBuild, registry: string, ofPreview: boolean): readonly PushedImage[] {
  const { host } = splitRegistry(registry)
  const { namespace, uid } = owner
  return (['Image', 'Cache'] as const).flatMap(kind => {
    const reference = parsed(kind === 'Image' ? pushes.image : pushes.cache, host)
    if (reference === undefined || !isBuildRepository(registry, namespace, reference.repository)) return []
    return [{ registry: host, ...reference, namespace, kind, owner: uid, buildId: id, ofPreview }]
  })
}

/**
 * A tag that was found in a repository to which nothing but builds pushes: of a build whose record is lost, or older than the
 * records.
 */
export function foundImage(place: Pick<PushedImage, 'registry' | 'repository' | 'namespace'>, tag: string): PushedImage {
  const owner = cacheTag.exec(tag)?.groups?.['owner']
  return { ...place, tag, kind: owner === undefined ? 'Image' : 'Cache', owner, buildId: undefined, ofPreview: false }
}
