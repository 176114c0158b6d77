// How images name their content. Source: https://github.com/opencontainers/image-spec/blob/main/descriptor.md#digests
import { createHash } from 'node:crypto'

/** Of the only algorithm that registries here use, for a part of a regular expression. */
export const digestPattern = 'sha256:[0-9a-f]{64}'

const wholeDigest = new RegExp(`^${digestPattern}$`)
const atTheEnd = new RegExp(`@(${digestPattern})$`)
const tagBeforeDigest = new RegExp(`:[\\w.-]{1,128}(?=@${digestPattern}$)`)
const pinned = new RegExp(`^[^/]+/(?<repository>[a-z0-9._/-]{1,255})@(?<digest>${digestPattern})$`)

/** What content is named by. */
export function digestOfContent(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

export function isDigest(text: string): boolean {
  return wholeDigest.test(text)
}

/** The digest of a reference that ends in one. */
export function digestOf(reference: string | undefined): string | undefined {
  return atTheEnd.exec(reference ?? '')?.[1]
}

/** The path and the digest of `<registry>/<path>@<digest>`. */
export function pinnedImage(reference: string): { readonly repository: string; readonly digest: string } | undefined {
  const { repository, digest } = pinned.exec(reference)?.groups ?? {}
  return repository === undefined || digest === undefined ? undefined : { repository, digest }
}

/** A reference by tag and digest as one by digest alone: the tag adds nothing to it. */
export function withoutTag(reference: string): string {
  return reference.replace(tagBeforeDigest, '')
}
