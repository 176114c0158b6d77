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
  for await (const lines of lineBatches(longest, stream)) yield* lines
}

/** As `completeLines`, the lines that one piece of the stream completes together: never none. */
export async function* lineBatches(longest: number, stream: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  let parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    const end = chunk.lastIndexOf(10)
    if (end !== -1) {
      parts.push(chunk.subarray(0, end))
      const text = Buffer.concat(parts).toString('utf8')
      parts = []
      size = 0
      const lines = text.split('\n').filter(line => line.trim() !== '')
      if (lines.length > 0) yield lines
    }
    parts.push(chunk.subarray(end + 1))
    size += chunk.length - (end + 1)
    if (size > longest) throw new RangeError(`a line is longer than ${longest} bytes`)
  }
}
