// What a load generator sends and expects: prepared bytes, so that creating requests costs nothing during a measurement.
// A request with another answer than the expected one counts as failed; otherwise a bench could measure refusals.
import { randomUUID } from 'node:crypto'

export type PlannedRequest = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Base64, because plans travel as JSON. */
  readonly body: string
  readonly expectedStatus: number
  /** Text that the answer's body must contain. */
  readonly expectedText: string
}

export type LoadPlan = {
  readonly port: number
  /** PEM of the authority that signed the server's certificate for `localhost`; plain http without it. */
  readonly authority?: string
  readonly protocol: 'http/1.1' | 'h2'
  readonly connections: number
  /** Each connection comes from an address of its own, as pods do: what a server counts by address is spread over them. */
  readonly ownAddresses?: boolean
  /** Concurrent requests on one connection; 1 for http/1.1. */
  readonly streams: number
  /** Requests due each second, whatever the answers do; without it each answer is followed by the next request. */
  readonly perSecond?: number
  /** Sent before the measured requests. */
  readonly warmUpRequests: number
  readonly requests: readonly PlannedRequest[]
  /** A header that gets a new UUID in every request. */
  readonly uniqueHeader?: string
}

/** A request as bytes, and the expected answer. */
export type PreparedRequest = {
  readonly bytes: Buffer
  /** Offset of the UUID; undefined without a unique header. */
  readonly uniqueAt: number | undefined
  readonly expectedStatus: number
  readonly expectedText: Buffer
}

const uuidPlaceholder = '00000000-0000-0000-0000-000000000000'

/** The bytes with a new UUID, as a copy: the socket may still hold the previous ones. */
export function freshBytes(request: PreparedRequest): Buffer {
  if (request.uniqueAt === undefined) return request.bytes
  const bytes = Buffer.from(request.bytes)
  bytes.write(randomUUID(), request.uniqueAt, 'latin1')
  return bytes
}

/** Header fields of a planned request in lower case, with a placeholder for the UUID. */
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
    // Header fields come first in both protocols, so this never finds the same text in a body.
    uniqueAt: uniqueHeader === undefined ? undefined : bytes.indexOf(uuidPlaceholder),
    expectedStatus: request.expectedStatus,
    expectedText: Buffer.from(request.expectedText),
  }
}
