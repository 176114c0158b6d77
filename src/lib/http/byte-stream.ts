// Reading a stream of bytes without trusting its length: as a whole, or line by line.

/** All bytes, or `undefined` as soon as there are more than `limit`; the stream is left then. Rejects when the stream breaks. */
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
 * Complete lines of UTF-8 only, without empty ones: what stands behind the last newline when the stream ends was cut off. Throws RangeError
 * when an end of line does not come within `longest` bytes.
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
