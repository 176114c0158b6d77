// Which images the objects of a tenant name: every digest, and every reference by tag, wherever in an object it is written. An object that only
// mentions an image keeps it, too: that costs disk space, and the contrary would cost an application. Pure, and linear in the length of the text,
// which tenants write.

export type ImageNames = {
  readonly digests: ReadonlySet<string>
  /** `<repository>:<tag>`, and the same without the first parts of the path, because the first one may be a host. */
  readonly references: ReadonlySet<string>
}

const digest = /sha256:[0-9a-f]{64}/g
/** Everything that a reference without a digest may consist of, host included: an `@` ends it. */
const word = /[A-Za-z0-9._/:-]+/g
/** Of a repository with its tag (distribution reference: 255 and 128 characters), behind a host. */
const longest = 640

/** Collects names; `names` returns what was added so far. */
export function createImageNames(): { readonly add: (text: string) => void; readonly names: () => ImageNames } {
  const digests = new Set<string>()
  const references = new Set<string>()
  return {
    add(text) {
      for (const [found] of text.matchAll(digest)) digests.add(found)
      for (const [found] of text.matchAll(word)) {
        if (found.lastIndexOf(':') <= found.lastIndexOf('/')) continue
        const parts = found.slice(-longest).split('/')
        for (let first = 0; first < parts.length; first++) references.add(parts.slice(first).join('/'))
      }
    },
    names: () => ({ digests, references }),
  }
}
