// Reads an HTTP response into memory up to a limit, because a server can send a response of any size. It counts the bytes after
// decompression, not those on the wire.
import { readAtMost } from './byte-stream.ts'

const bodilessStatuses = new Set([204, 205, 304])

/**
 * The same response with its body in memory. Rejects with the error of `tooLarge` beyond `maximumBytes`, and when reading
 * fails.
 */
export async function withBoundedBody(response: Response, maximumBytes: number, tooLarge: () => Error): Promise<Response> {
  const bytes = response.body === null ? Buffer.alloc(0) : await readAtMost(maximumBytes, response.body)
  if (bytes === undefined) throw tooLarge()
  const body = bodilessStatuses.has(response.status) ? null : bytes
  const { status, statusText, headers } = response
  const read = new Response(body, { status, statusText, headers: [...headers] })
  // Pagination reads the URL, which a constructed Response does not have.
  return Object.defineProperty(read, 'url', { value: response.url })
}
