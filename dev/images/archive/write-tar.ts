// Streams entries as a tar archive, deterministically: sorted paths, fixed times, numeric owners. It never holds a whole file
// in memory.
import { createReadStream } from 'node:fs'
import { AppError } from '../../../src/lib/errors.ts'
import { blockSize, padding, sourceSize, tarHeader } from './tar-header.ts'
import { normalizeTree, type TreeEntry } from './tree-entry.ts'

/** Throws `conflict` when a file changes its size while it is read, because the rest of the archive would be unreadable. */
export async function* writeTar(entries: readonly TreeEntry[]): AsyncGenerator<Buffer> {
  for (const entry of normalizeTree(entries)) {
    yield tarHeader(entry)
    if (entry.kind !== 'file') continue
    const size = sourceSize(entry)
    if (entry.source.kind === 'bytes') yield Buffer.from(entry.source.bytes)
    else yield* exactly(entry.source.path, size)
    const rest = padding(size)
    if (rest > 0) yield Buffer.alloc(rest)
  }
  yield Buffer.alloc(2 * blockSize)
}

async function* exactly(path: string, size: number): AsyncGenerator<Buffer> {
  let seen = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const bytes = Buffer.from(chunk)
    seen += bytes.length
    yield bytes
  }
  if (seen !== size)
    throw new AppError(
      'conflict',
      `${path} changed while it was packed (${size} bytes expected, ${seen} read): rebuild the image`,
    )
}
