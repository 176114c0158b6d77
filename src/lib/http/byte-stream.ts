// Reads a stream of bytes of unknown length within a limit: as a whole, or line by line.

/** All bytes, or `undefined` as soon as there are more than `limit`, which ends the stream. Rejects when the stream fails. */
export async function readAtMost(limit: number, stream: AsyncIterable<Uint8Array>): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * The complete lines (UTF-8) that are not empty; text after the last newline is incomplete and dropped. Throws RangeError when
 * a line is longer than `longest` bytes.
 */
export async function* completeLines(longest: number, stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    let start = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      parts.push(bytes.subarray(start, end))
      const line = Buffer.concat(parts).toString('utf8')
      parts = []
      size = 0
      start = end + 1
      if (line.trim() !== '') yield line
    }
    parts.push(bytes.subarray(start))
    size += bytes.length - start
    if (size > longest) throw new RangeError(`a line is longer than ${longest} bytes`)
  }
}
