// Gives an image, named by its digest, one more tag of its repository: the same bytes are put under that name, so that the
// digest stays what it is. Repeating it changes nothing.
// Source: https://github.com/opencontainers/distribution-spec (Pushing Manifests)
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'
import { digestOfContent, pinnedImage } from '../../lib/text/image-digest.ts'
import { manifestTypes } from './image-labels.ts'
import type { ManifestWriter, RegistryReader, RegistryReply } from './registry-reader.ts'

export type Tagging =
  | { readonly kind: 'tagged' }
  /** The registry does not have the image, or has another one under its digest. */
  | { readonly kind: 'absent'; readonly message: string }
  /** Another try would probably have the same answer. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string }

const maxManifestBytes = 4_194_304
/** Of a manifest that does not name its type itself (OCI image specification). */
const typeWithoutName = 'application/vnd.oci.image.manifest.v1+json'

function unanswered(reply: RegistryReply, what: string): Tagging {
  if (reply.kind === 'failed') return { kind: 'unavailable', message: `${what}: ${reply.message}` }
  const { status } = reply
  const message = `${what}: the registry answered ${status}`
  return { kind: status >= 500 || status === 429 ? 'unavailable' : 'refused', message }
}

/** `image` must name its digest. Never rejects. */
export async function tagImage(
  registry: { readonly read: RegistryReader; readonly write: ManifestWriter },
  image: string,
  tag: string,
): Promise<Tagging> {
  const { repository, digest } = pinnedImage(image) ?? {}
  if (repository === undefined || digest === undefined) return { kind: 'absent', message: `${image} is not named by its digest` }
  const what = `${image} cannot be read`
  const reply = await registry.read({
    repository,
    path: `manifests/${digest}`,
    accept: manifestTypes,
    maxBytes: maxManifestBytes,
  })
  if (reply.kind === 'answered' && reply.status === 404) return { kind: 'absent', message: `the registry does not have ${image}` }
  if (reply.kind === 'failed' || reply.status !== 200) return unanswered(reply, what)
  const { bytes } = reply
  if (bytes === undefined) return { kind: 'refused', message: `${what}: its manifest is too large` }
  if (digestOfContent(bytes) !== digest)
    return { kind: 'absent', message: `${what}: the registry has other content under its digest` }
  const mediaType = textAt(asObject(parseJson(bytes.toString('utf8'))), 'mediaType') ?? typeWithoutName
  const put = await registry.write({ repository, tag, mediaType, bytes })
  if (put.kind === 'answered' && put.status >= 200 && put.status < 300) return { kind: 'tagged' }
  return unanswered(put, `${image} cannot be given the tag ${tag}`)
}
