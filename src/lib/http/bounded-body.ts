// Reads an HTTP answer into memory, up to a limit: what another side sends is of the size that it likes. Counts what was unpacked, not what
// came over the wire.
import { readAtMost } from './byte-stream.ts'

const bodilessStatuses = new Set([204, 205, 304])

/** The answer with its body read. Throws what `tooLarge` makes beyond `maximumBytes`, and whatever reading throws. */
export async function withBoundedBody(response: Response, maximumBytes: number, tooLarge: () => Error): Promise<Response> {
  const bytes = response.body === null ? Buffer.alloc(0) : await readAtMost(maximumBytes, response.body)
  if (bytes === undefined) throw tooLarge()
  const body = bodilessStatuses.has(response.status) ? null : bytes
  const { status, statusText, headers } = response
  const read = new Response(body, { status, statusText, headers: [...headers] })
  // Pagination reads the address; a Response that is made by hand has none.
  return Object.defineProperty(read, 'url', { value: response.url })
}
