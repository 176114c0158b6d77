// The body of a client's request as a stream with bounds: compressed or not, it has a limit in both forms.
import type { IncomingMessage } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AppError } from '../../../lib/errors.ts'
import type { GitStream } from './git-streams.ts'

type Bounds = { readonly most: number; readonly stream: GitStream }

async function* counted(source: AsyncIterable<Buffer>, { most, stream }: Bounds): AsyncGenerator<Buffer> {
  let size = 0
  for await (const piece of source) {
    stream.touch()
    size += piece.length
    if (size > most) throw new AppError('payload_too_large', `the request is larger than ${Math.floor(most / 1024 / 1024)} MiB`)
    yield piece
  }
}

/** Whoever stops reading can still answer: the connection is not closed with it. */
function piecesOf(request: IncomingMessage): AsyncIterable<Buffer> {
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer> }
}

/**
 * The bytes that git meant. Ends with an AppError `payload_too_large` beyond `most`, before and after decompression, and with
 * `invalid_request` for what is not gzip. @throws AppError `invalid_request` for another encoding
 */
export function requestBody(request: IncomingMessage, bounds: Bounds): AsyncGenerator<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  const raw = counted(piecesOf(request), bounds)
  if (encoding === 'identity') return raw
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new AppError('invalid_request', 'Content-Encoding must be gzip, or none')
  // Errors reach whoever reads the last one.
  const unzipped = pipeline(Readable.from(raw), createGunzip(), () => {})
  return counted(explained(unzipped), bounds)
}

async function* explained(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* stream
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('invalid_request', 'the body is not gzip as its Content-Encoding says', { cause: error })
  }
}

/** Reads and drops what is left of a request, so that its sender reads the answer; of more than `most` the connection is cut. */
export async function drain(
  request: IncomingMessage,
  bounds: Bounds,
  cut: () => unknown = () => request.destroy(),
): Promise<void> {
  try {
    if (!request.complete) for await (const _ of counted(piecesOf(request), bounds)) if (bounds.stream.signal.aborted) break
  } catch {
    // The sender is gone, or sends too much.
  }
  if (!request.complete) cut()
}
