// How a piece of a build log is stored: compressed, and never larger than the database accepts. Pure.
// Source: RFC 8878 (Zstandard); https://github.com/facebook/zstd/blob/dev/lib/zstd.h (ZSTD_compressBound)
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** The most bytes of text in one chunk: also what cannot be compressed stays below 64 KiB, which the table demands. */
export const maxChunkBytes = 64_000

/** @throws RangeError for more than `maxChunkBytes` */
export function compressText(text: Uint8Array): Uint8Array<ArrayBuffer> {
  if (text.length > maxChunkBytes) throw new RangeError(`a chunk has at most ${maxChunkBytes} bytes, not ${text.length}`)
  return new Uint8Array(zstdCompressSync(text))
}

/** Rejects content that expands beyond a chunk: another process wrote it. */
export function decompressText(content: Uint8Array): Buffer {
  return zstdDecompressSync(content, { maxOutputLength: maxChunkBytes })
}
