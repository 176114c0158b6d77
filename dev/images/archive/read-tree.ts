// Turns a folder of the disk into layer entries. Owners and times of the disk never reach the image: everything belongs to the
// given owner, and the tar writer sets the time. Sockets, devices and pipes are left out.
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { Ownership, TreeEntry } from './tree-entry.ts'

export type ReadTreeOptions = {
  /** The target path of the folder's content in the image; empty for the root. */
  readonly into: string
  /** Whether to include a path, relative to the folder that is read; a folder that is left out is not entered. */
  readonly keep?: (path: string) => boolean
  readonly owner?: Ownership
}

/** Drops the set-uid and set-gid bits: no file of our images may grant rights. The sticky bit stays. */
const keptModeBits = 0o1777

export async function readTree(from: string, options: ReadTreeOptions): Promise<readonly TreeEntry[]> {
  const owner = options.owner ?? { uid: 0, gid: 0 }
  const entries: TreeEntry[] = []
  const walk = async (relative: string): Promise<void> => {
    for (const item of await readdir(join(from, relative))) {
      const path = posix.join(relative, item)
      if (options.keep && !options.keep(path)) continue
      const entry = await entryOf(join(from, path), posix.join(options.into, path), owner)
      if (entry) entries.push(entry)
      if (entry?.kind === 'folder') await walk(path)
    }
  }
  await walk('')
  return entries
}

/** Undefined for sockets, devices and pipes. */
async function entryOf(disk: string, path: string, owner: Ownership): Promise<TreeEntry | undefined> {
  const status = await lstat(disk)
  const shared = { path, mode: status.mode & keptModeBits, ...owner }
  if (status.isDirectory()) return { ...shared, kind: 'folder' }
  if (status.isSymbolicLink()) return { ...shared, kind: 'link', target: await readlink(disk) }
  return status.isFile() ? { ...shared, kind: 'file', source: { kind: 'path', path: disk, size: status.size } } : undefined
}

/** A single file of the disk as an entry. */
export async function diskFile(path: string, from: string, mode?: number): Promise<TreeEntry> {
  const status = await lstat(from)
  return {
    kind: 'file',
    path,
    mode: mode ?? status.mode & keptModeBits,
    uid: 0,
    gid: 0,
    source: { kind: 'path', path: from, size: status.size },
  }
}
