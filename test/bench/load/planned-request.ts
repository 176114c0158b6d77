// What a load generator sends and what it must get: prepared bytes, so that making requests costs nothing while something is measured.
// A request whose answer is not the expected one counts as failed; a bench that ignored that would measure refusals.
import { randomUUID } from 'node:crypto'

export type PlannedRequest = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Base64, because plans travel as JSON. */
  readonly body: string
  readonly expectedStatus: number
  /** A piece of text that the answer's body must hold. */
  readonly expectedText: string
}

export type LoadPlan = {
  readonly port: number
  /** PEM of the authority that signed the server's certificate for `localhost`; plain http without it. */
  readonly authority?: string
  readonly protocol: 'http/1.1' | 'h2'
  readonly connections: number
  /** Requests under way on one connection at a time; 1 for http/1.1. */
  readonly streams: number
  /** Sent before the measured ones, so that both sides are warm. */
  readonly warmUpRequests: number
  readonly requests: readonly PlannedRequest[]
  /** A header that gets a fresh UUID in every request. */
  readonly uniqueHeader?: string
}

/** A request as bytes, and the check of its answer. */
export type PreparedRequest = {
  readonly bytes: Buffer
  /** Where a fresh UUID goes; undefined when nothing is unique. */
  readonly uniqueAt: number | undefined
  readonly expectedStatus: number
  readonly expectedText: Buffer
}

const uuidPlaceholder = '00000000-0000-0000-0000-000000000000'

/** The bytes with a fresh UUID in them. Written in place would be wrong: the socket may still hold the former ones. */
export function freshBytes(request: PreparedRequest): Buffer {
  if (request.uniqueAt === undefined) return request.bytes
  const bytes = Buffer.from(request.bytes)
  bytes.write(randomUUID(), request.uniqueAt, 'latin1')
  return bytes
}

/** Header fields of a planned request in lower case, with the placeholder where a UUID will be written. */
export function fieldsOf(
  request: PlannedRequest,
  body: Buffer,
  uniqueHeader: string | undefined,
): Readonly<Record<string, string>> {
  return {
    ...request.headers,
    ...(uniqueHeader === undefined ? {} : { [uniqueHeader]: uuidPlaceholder }),
    'content-length': String(body.length),
  }
}

export function prepared(request: PlannedRequest, bytes: Buffer, uniqueHeader: string | undefined): PreparedRequest {
  return {
    bytes,
    // Header fields come first in both protocols: a body that holds the same text is not meant.
    uniqueAt: uniqueHeader === undefined ? undefined : bytes.indexOf(uuidPlaceholder),
    expectedStatus: request.expectedStatus,
    expectedText: Buffer.from(request.expectedText),
  }
}
