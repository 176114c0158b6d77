// The registry as the removal of images sees it: which tags a repository has, what one means, and the deletion of a manifest.
// What cannot be said for certain is `doubt`, and a deletion that the registry does not do is `refused`; neither ever reads as
// absence.
import { asObject, listAt, parseJson } from '../../lib/json/json-value.ts'
import { digestOfContent } from '../../lib/text/image-digest.ts'
import { manifestTypes } from '../registry/image-labels.ts'
import type { ManifestRemover, RegistryReader, RegistryReply } from '../registry/registry-reader.ts'

/** `unavailable`: whatever is asked next will probably fail, too. */
export type Doubt = { readonly kind: 'doubt'; readonly message: string; readonly unavailable: boolean }

export type TagList = { readonly kind: 'tags'; readonly tags: readonly string[] } | Doubt

export type TagMeaning = { readonly kind: 'digest'; readonly digest: string } | { readonly kind: 'absent' } | Doubt

/** `byRegistry`: no manifest of any repository can be deleted; otherwise this account may not. */
export type Removal =
  | { readonly kind: 'deleted' }
  | { readonly kind: 'refused'; readonly status: number; readonly byRegistry: boolean }
  | Doubt

export type RegistryImages = {
  readonly tagsOf: (repository: string) => Promise<TagList>
  readonly digestOf: (repository: string, tag: string) => Promise<TagMeaning>
  readonly remove: (repository: string, digest: string) => Promise<Removal>
}

/** More than a repository with 10,000 tags has; a longer list is doubt. */
const maxListBytes = 2_097_152
const maxManifestBytes = 4_194_304
/** Registries that cut lists do it at this number at the earliest; distribution 2.8 ignores it. */
const pageSize = 10_000

function doubt(reply: RegistryReply, what: string): Doubt {
  if (reply.kind === 'failed') return { kind: 'doubt', message: `${what}: ${reply.message}`, unavailable: true }
  const unavailable = reply.status >= 500 || reply.status === 429
  return { kind: 'doubt', message: `${what}: the registry answered ${reply.status}`, unavailable }
}

/** Never rejects. */
export function createRegistryImages(registry: {
  readonly read: RegistryReader
  readonly remove: ManifestRemover
}): RegistryImages {
  return {
    async tagsOf(repository) {
      const what = `the tags of ${repository} cannot be listed`
      const path = `tags/list?n=${pageSize}`
      const reply = await registry.read({ repository, path, accept: ['application/json'], maxBytes: maxListBytes })
      // A repository to which nothing was pushed has no name yet.
      if (reply.kind === 'answered' && reply.status === 404) return { kind: 'tags', tags: [] }
      if (reply.kind === 'failed' || reply.status !== 200) return doubt(reply, what)
      const list = reply.bytes && asObject(parseJson(reply.bytes.toString('utf8')))
      if (list === undefined || reply.more === true || list['name'] !== repository)
        return { kind: 'doubt', message: `${what}: the list is cut or not one`, unavailable: false }
      return { kind: 'tags', tags: listAt(list, 'tags').filter(tag => typeof tag === 'string') }
    },
    async digestOf(repository, tag) {
      const what = `${repository}:${tag} cannot be read`
      const path = `manifests/${tag}`
      const reply = await registry.read({ repository, path, accept: manifestTypes, maxBytes: maxManifestBytes })
      if (reply.kind === 'answered' && reply.status === 404) return { kind: 'absent' }
      if (reply.kind === 'failed' || reply.status !== 200) return doubt(reply, what)
      if (reply.bytes === undefined) return { kind: 'doubt', message: `${what}: its manifest is too large`, unavailable: false }
      // The digest of a manifest is that of its bytes, whatever a header says.
      return { kind: 'digest', digest: digestOfContent(reply.bytes) }
    },
    async remove(repository, digest) {
      const reply = await registry.remove({ repository, digest })
      if (reply.kind === 'failed') return doubt(reply, `${repository}@${digest} cannot be deleted`)
      const { status } = reply
      if ((status >= 200 && status < 300) || status === 404) return { kind: 'deleted' }
      if (status >= 300 && status < 500 && status !== 429)
        return { kind: 'refused', status, byRegistry: status !== 401 && status !== 403 }
      if (status === 501) return { kind: 'refused', status, byRegistry: true }
      return doubt(reply, `${repository}@${digest} cannot be deleted`)
    },
  }
}
