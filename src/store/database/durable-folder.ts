// The embedded database on a folder that survives a power cut: PostgreSQL runs with fsync on, and PGlite's file system gets
// one, so that PostgreSQL decides what to flush and when. A new database is made beside its folder and renamed when it is on
// the disk.
// Source: https://www.postgresql.org/docs/current/wal-reliability.html,
// https://www.postgresql.org/docs/current/runtime-config-wal.html
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** What the compiled PostgreSQL calls; PGlite's types do not describe it. */
type EmscriptenModule = {
  readonly NODEFS: {
    readonly stream_ops: Record<string, unknown>
    /** Turns an error of Node.js into one that PostgreSQL understands. */
    readonly tryFSOperation: (operation: () => unknown) => unknown
  }
}

/** PGlite's file system on a folder, with `fsync`. */
export class DurableFolder extends NodeFS {
  override async init(...given: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...given)
    const prepare = (module: unknown): void => this.prepare(module as EmscriptenModule)
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), prepare] } }
  }

  protected prepare({ NODEFS }: EmscriptenModule): void {
    NODEFS.stream_ops['fsync'] = ({ nfd }: { readonly nfd: number }): number => {
      NODEFS.tryFSOperation(() => fsyncSync(nfd))
      return 0
    }
  }
}

/**
 * initdb would set 128 MB, all of it touched at the start: several times what is read of the tables of a platform at a time.
 * Pages that do not fit are read from the system's file cache. The buffers of the log, a part of it otherwise, stay large
 * enough for a group of commits.
 */
const sharedBuffers = ['-c', 'shared_buffers=16MB', '-c', 'wal_buffers=1MB']

/** For a database that ends with its process. */
export const inMemoryStartParameters: readonly string[] = [...PGlite.defaultStartParams, ...sharedBuffers]

/**
 * PGlite's parameters without `-F` (fsync off). The log is flushed by `fsync`: the other methods are `fdatasync`, which does
 * nothing in this build, and flags of `open`, which cost the same.
 */
export const durableStartParameters: readonly string[] = [
  ...PGlite.defaultStartParams.filter(parameter => parameter !== '-F'),
  ...['-c', 'fsync=on', '-c', 'wal_sync_method=fsync', '-c', 'synchronous_commit=on', '-c', 'full_page_writes=on'],
  ...sharedBuffers,
]

/** Opens the database in `folder`, and creates it when there is none: wholly or not at all. */
export async function openDurable(folder: string): Promise<PGlite> {
  if (!existsSync(folder)) await create(folder)
  return open(folder)
}

function open(folder: string): Promise<PGlite> {
  return PGlite.create({ fs: new DurableFolder(folder), startParams: [...durableStartParameters] })
}

async function create(folder: string): Promise<void> {
  const unfinished = `${folder}.creating`
  rmSync(unfinished, { recursive: true, force: true })
  await (await open(unfinished)).close()
  flushTree(unfinished)
  renameSync(unfinished, folder)
  flush(dirname(folder))
}

function flushTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) flushTree(path)
    else if (entry.isFile()) flush(path)
  }
  flush(folder)
}

/** Also for a folder: then its entries are on the disk. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
