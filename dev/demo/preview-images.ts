// The images and the build cache of previews, as the registry shows them to whoever pushes the platform's images: people of
// tenants cannot list it. Reads only.
import { processEnvironment } from '../../src/lib/config.ts'
import type { ClusterSettings } from '../cluster/settings.ts'
import { sharedRegistry } from '../images/image-deps.ts'
import type { RegistryClient } from '../images/registry/registry-client.ts'
import { tenantNamespace } from './context.ts'
import { DemoFailure } from './steps.ts'

export type PreviewImage = { readonly tag: string; readonly digest: string }

export type PreviewImages = {
  /** What builds of the preview pushed: at least one image and a cache, or it throws DemoFailure. */
  readonly built: (preview: string) => Promise<readonly PreviewImage[]>
  /**
   * What is still there of the preview, as text: every tag, and every manifest of `before`; but the image of the digest `kept`.
   */
  readonly left: (preview: string, before: readonly PreviewImage[], kept?: string) => Promise<readonly string[]>
}

const mediaTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ')

/** Where builds of the preview push: their images, and their cache under a tag of its own. */
const repositoryOf = (preview: string): string => `apps/${tenantNamespace}/${preview}`
const isCache = ({ tag }: PreviewImage): boolean => tag.startsWith('cache-')

export function createPreviewImages(registry: Pick<RegistryClient, 'tags' | 'manifestDigest'>): PreviewImages {
  const tagged = async (preview: string): Promise<readonly PreviewImage[]> => {
    const repository = repositoryOf(preview)
    const tags = await registry.tags(repository)
    const found = await Promise.all(
      tags.map(async tag => ({ tag, digest: await registry.manifestDigest(repository, tag, mediaTypes) })),
    )
    // Distribution keeps the name of a tag whose manifest it has deleted until the next push: nothing is left under it.
    return found.flatMap(({ tag, digest }) => (digest === undefined ? [] : [{ tag, digest }]))
  }
  return {
    async built(preview) {
      const found = await tagged(preview)
      if (found.some(isCache) && !found.every(isCache)) return found
      const tags = found.map(({ tag }) => tag).join(', ') || 'nothing'
      throw new DemoFailure(`the registry has ${tags} in ${repositoryOf(preview)}, not an image and a cache of builds`)
    },
    async left(preview, before, kept) {
      const repository = repositoryOf(preview)
      const now = (await tagged(preview)).filter(({ digest }) => digest !== kept)
      const gone = before.filter(({ digest }) => digest !== kept && !now.some(one => one.digest === digest))
      const untagged = await Promise.all(
        gone.map(async ({ tag, digest }) => {
          const found = await registry.manifestDigest(repository, digest, mediaTypes)
          return found === undefined ? [] : [`${repository}@${digest}, which was ${tag}`]
        }),
      )
      return [...now.map(({ tag, digest }) => `${repository}:${tag} (${digest})`), ...untagged.flat()]
    },
  }
}

/** Undefined for a given cluster whose registry nobody names: the demo asks for no setting of `make up`. */
export function openPreviewImages(settings: ClusterSettings): PreviewImages | undefined {
  const isKnown = settings.givenKubeconfig === undefined || processEnvironment()['SEKISHO_UP_REGISTRY'] !== undefined
  return isKnown ? createPreviewImages(sharedRegistry(settings)) : undefined
}
