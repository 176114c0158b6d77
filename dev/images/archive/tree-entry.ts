// The content of a layer: a flat list of files, folders and links with their owner and mode in the image.
// An entry describes bytes that exist elsewhere; it never touches the disk itself.

export type Ownership = { readonly uid: number; readonly gid: number }

export type FileSource =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'path'; readonly path: string; readonly size: number }

/** Linux capabilities by number that a program of an image may have when somebody runs it who has none. */
export const fileCapabilities = { setgid: 6, setuid: 7 } as const
export type FileCapability = keyof typeof fileCapabilities

/** `path` is relative to the image's root, without a leading or trailing slash. `mode` has the permission bits only. */
export type TreeEntry = Ownership & { readonly path: string; readonly mode: number } & (
    | { readonly kind: 'folder' }
    | { readonly kind: 'file'; readonly source: FileSource; readonly capability?: FileCapability }
    | { readonly kind: 'link'; readonly target: string }
  )

const root: Ownership = { uid: 0, gid: 0 }

export function folder(path: string, mode = 0o755, owner: Ownership = root): TreeEntry {
  return { kind: 'folder', path, mode, ...owner }
}

export function textFile(path: string, text: string, mode = 0o644): TreeEntry {
  return { kind: 'file', path, mode, ...root, source: { kind: 'bytes', bytes: Buffer.from(text) } }
}

export function link(path: string, target: string): TreeEntry {
  return { kind: 'link', path, target, mode: 0o777, ...root }
}

/**
 * One entry per path, sorted by path, with every missing parent folder, so that order and content of a layer depend on its
 * entries only. A later entry replaces an earlier one of the same path.
 */
export function normalizeTree(entries: readonly TreeEntry[]): readonly TreeEntry[] {
  const byPath = new Map<string, TreeEntry>()
  for (const entry of entries) {
    const segments = entry.path.split('/')
    for (let depth = 1; depth < segments.length; depth++) {
      const parent = segments.slice(0, depth).join('/')
      if (!byPath.has(parent)) byPath.set(parent, folder(parent))
    }
    byPath.set(entry.path, entry)
  }
  return [...byPath.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
}
