// The local content store: one file per blob, named by its SHA-256, as in the OCI image layout. A blob is written to a
// temporary file and renamed, so that concurrent or interrupted builds never leave an incomplete blob.
import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** `sha256:` and 64 hexadecimal digits. */
export type Digest = `sha256:${string}`
export type Blob = { readonly digest: Digest; readonly size: number }

export type BlobStore = {
  readonly pathOf: (digest: Digest) => string
  readonly has: (digest: Digest) => Promise<boolean>
  readonly put: (bytes: Uint8Array) => Promise<Blob>
  readonly putStream: (bytes: AsyncIterable<Uint8Array>) => Promise<Blob>
}

export function digestOf(bytes: Uint8Array | string): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

/** Passes bytes through and reports their digest and size at the end. */
export function createMeter(): {
  readonly through: (bytes: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array>
  readonly result: () => Blob
} {
  const hash = createHash('sha256')
  let size = 0
  return {
    async *through(bytes) {
      for await (const chunk of bytes) {
        hash.update(chunk)
        size += chunk.length
        yield chunk
      }
    },
    result: () => ({ digest: `sha256:${hash.digest('hex')}`, size }),
  }
}

export function createBlobStore(folder: string): BlobStore {
  const pathOf = (digest: Digest): string => join(folder, 'sha256', digest.slice('sha256:'.length))
  const putStream = async (bytes: AsyncIterable<Uint8Array>): Promise<Blob> => {
    const unfinished = join(folder, 'unfinished', randomUUID())
    await mkdir(dirname(unfinished), { recursive: true })
    await mkdir(join(folder, 'sha256'), { recursive: true })
    const meter = createMeter()
    try {
      await pipeline(meter.through(bytes), createWriteStream(unfinished))
      const blob = meter.result()
      await rename(unfinished, pathOf(blob.digest))
      return blob
    } finally {
      await rm(unfinished, { force: true })
    }
  }
  return {
    pathOf,
    has: async digest => (await stat(pathOf(digest)).catch(() => undefined))?.isFile() === true,
    put: bytes => putStream(once(bytes)),
    putStream,
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
