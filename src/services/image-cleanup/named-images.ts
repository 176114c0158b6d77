// Which images the objects of a tenant name: every digest, alone or in a repository, and every reference by tag, wherever in an
// object it is written. An object that only mentions an image keeps it, too: that costs disk space, and the contrary would cost
// an application. Pure, and linear in the length of the text, which tenants write.
import { digestPattern } from '../../lib/text/image-digest.ts'

export type ImageNames = {
  /** Digests that stand alone, or behind a name that may be a part of any: they mean every repository. */
  readonly digests: ReadonlySet<string>
  /**
   * Digests by which something is named in a repository, with the names: `<host>/<repository>`. Other repositories can have the
   * same content.
   */
  readonly pinned: ReadonlyMap<string, ReadonlySet<string>>
  /** `<repository>:<tag>`, and the same without the first parts of the path, because the first one may be a host. */
  readonly references: ReadonlySet<string>
}

const digest = new RegExp(digestPattern, 'g')
/** Everything that a reference without a digest may consist of, host included: an `@` ends it. */
const word = /[A-Za-z0-9._/:-]+/g
/** Of a repository with its tag (distribution reference: 255 and 128 characters), behind a host. */
const longest = 640
const isOfWord = (letter: string | undefined): boolean => letter !== undefined && /[A-Za-z0-9._/:-]/.test(letter)
/** A host and at least two parts of a path, with or without a tag. */
const wholeName = /^(?<name>[^/]+(?:\/[^/:]+){2,})(?::[^/:]*)?$/

/** The name before the `@` that ends there; undefined when it is none, or may be a part of one. */
function nameBefore(text: string, at: number): string | undefined {
  if (text[at] !== '@') return undefined
  let start = at
  while (at - start < longest && isOfWord(text[start - 1])) start--
  return wholeName.exec(text.slice(start, at))?.groups?.['name']
}

/** Collects names; `names` returns what was added so far. */
export function createImageNames(): { readonly add: (text: string) => void; readonly names: () => ImageNames } {
  const digests = new Set<string>()
  const pinned = new Map<string, Set<string>>()
  const references = new Set<string>()
  const addDigest = (found: string, name: string | undefined): void => {
    if (name === undefined) digests.add(found)
    else pinned.set(found, (pinned.get(found) ?? new Set()).add(name))
  }
  return {
    add(text) {
      for (const { 0: found, index } of text.matchAll(digest)) addDigest(found, nameBefore(text, index - 1))
      for (const [found] of text.matchAll(word)) {
        if (found.lastIndexOf(':') <= found.lastIndexOf('/')) continue
        const parts = found.slice(-longest).split('/')
        for (let first = 0; first < parts.length; first++) references.add(parts.slice(first).join('/'))
      }
    },
    names: () => ({ digests, pinned, references }),
  }
}
