// Minimal JSON-POST server for machine clients: a few fixed paths, one JSON answer each, on Node.js alone (docs/adr/0050). It
// bounds what requests occupy together before anything of them is read, and answers errors as server.ts does.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { AppError } from '../lib/errors.ts'
import { createNodeServer, endServer, listenOn, type NodeServerOptions } from './connections/node-server.ts'
import { errorAnswer } from './error-answer.ts'

/** The whole body, and how long ago the head of its request arrived. Returns JSON; what it throws becomes the answer. */
export type PostRoute = (body: Buffer, elapsedMilliseconds: () => number) => string | Promise<string>

/** What exceeds it is refused at once, by the head of the request alone. */
export type BodyBudget = {
  /** Requests in progress. */
  readonly requests: number
  /** The bytes that their bodies announce, in sum. One without a length counts as the largest body. */
  readonly bytes: number
  /** The largest body. */
  readonly bodyLimit: number
}

export type PostServerOptions = NodeServerOptions & {
  /** By path, without a query. */
  readonly routes: ReadonlyMap<string, PostRoute>
  readonly budget: BodyBudget
  /** Called for each request; `last` closes its connection after the answer. */
  readonly onRequest?: () => 'more' | 'last'
  /**
   * Makes the answer, with status 200, to what exceeds the budget: its body is received and discarded first, so that the
   * client is there to read it. Without it such a request is refused by its head alone.
   */
  readonly onOverflow?: () => string
}

export type PostServer = {
  /** Resolves to the port, which the system chooses for port 0. */
  readonly listen: (address: { readonly host: string; readonly port: number }) => Promise<number>
  /** Accepts nothing more, and resolves when every request is answered; idle connections end at once. Idempotent. */
  readonly close: () => Promise<void>
  readonly closeAllConnections: () => void
}

/**
 * A field named __proto__ is an ordinary field here: nothing is merged, and readers take only own fields.
 * @throws AppError invalid_request
 */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is not JSON', { cause })
  }
}

/**
 * Clients written in Go, as API servers are, open connections ahead of need and keep them for 90 s. One that never sent a request
 * is taken for sound: where it ends just when it is used, the request fails (EOF) and is not sent again. So none ends before
 * theirs do, nor a handshake, for which they have 10 s; how many there may be is bounded.
 * https://pkg.go.dev/net/http#Transport (IdleConnTimeout, TLSHandshakeTimeout)
 */
export const patienceWithApiServers = { handshake: 30_000, headers: 120_000, request: 120_000 }

/** A server that does not listen yet. */
export function createPostServer(options: PostServerOptions): PostServer {
  const { log, routes, budget, onRequest = () => 'more', onOverflow } = options
  const { bodyLimit } = budget
  let inProgress = 0
  let announced = 0
  let closed: Promise<void> | undefined

  const send = (response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders = {}): void => {
    if (closed !== undefined) response.shouldKeepAlive = false
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers })
    response.end(text)
  }
  const refuse = (request: IncomingMessage, response: ServerResponse, error: unknown): void => {
    const { status, code, message, retryAfterSeconds } = errorAnswer(error)
    const requestId = randomUUID()
    const path = pathOf(request)
    const fields = { requestId, method: request.method, route: routes.has(path) ? path : 'none', status, error }
    if (status >= 500) log.error(fields, 'request failed')
    else log.debug(fields, 'request refused')
    // Reading the rest of a body only to discard it would serve its sender.
    if (!request.complete) response.shouldKeepAlive = false
    const wait = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
    send(response, status, JSON.stringify({ error: { code, message, requestId } }), { 'x-request-id': requestId, ...wait })
  }
  /**
   * The route of the request, with a place in the budget that is free again when the response was sent or the connection ended.
   */
  const admit = (request: IncomingMessage, response: ServerResponse): PostRoute => {
    const route = request.method === 'POST' ? routes.get(pathOf(request)) : undefined
    if (route === undefined) throw new AppError('not_found', 'not found')
    if (!isJson(request)) throw new AppError('invalid_request', 'the Content-Type must be application/json')
    const size = announcedBytes(request) ?? bodyLimit
    if (size > bodyLimit) throw tooLarge(bodyLimit)
    if (inProgress >= budget.requests || announced + size > budget.bytes)
      throw new AppError('unavailable', 'too many requests in progress: try again', { retryAfterSeconds: 1 })
    inProgress += 1
    announced += size
    response.on('close', () => {
      inProgress -= 1
      announced -= size
    })
    return route
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const arrived = performance.now()
    const elapsed = (): number => performance.now() - arrived
    const answer = (text: string): void => {
      send(response, 200, text)
      log.debug({ route: pathOf(request), status: 200, milliseconds: Math.round(elapsed()) }, 'request answered')
    }
    const fail = (error: unknown): void => {
      if (onOverflow !== undefined && isOverflow(error)) afterBody(request, () => answer(onOverflow()))
      else refuse(request, response, error)
    }
    if (onRequest() === 'last') response.shouldKeepAlive = false
    try {
      const route = admit(request, response)
      receive(request, bodyLimit, body => {
        if (body === undefined) return fail(tooLarge(bodyLimit))
        try {
          const given = route(body, elapsed)
          if (typeof given === 'string') answer(given)
          else given.then(answer, fail)
        } catch (error) {
          fail(error)
        }
      })
    } catch (error) {
      fail(error)
    }
  }

  const node = createNodeServer(listener, { patience: patienceWithApiServers, ...options })
  return {
    listen: address => listenOn(node, address),
    close() {
      closed ??= endServer(node)
      return closed
    },
    closeAllConnections: () => node.server.closeAllConnections(),
  }
}

/** Of `admit`, or of a body that turned out longer than it was announced. */
function isOverflow(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'payload_too_large' || error.code === 'unavailable')
}

/** Discards what is left of the body, which the time limit of requests bounds. */
function afterBody(request: IncomingMessage, done: () => void): void {
  if (request.readableEnded) done()
  else request.once('end', done).resume()
}

function tooLarge(most: number): AppError {
  return new AppError('payload_too_large', `a body has at most ${most} bytes`)
}

/** The API server adds `?timeout=…` to the path of a webhook. */
function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

function isJson({ headers }: IncomingMessage): boolean {
  return /^application\/json *(;|$)/i.test(headers['content-type'] ?? '')
}

/** Undefined for a body of unknown length. */
function announcedBytes({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  return headers['transfer-encoding'] === undefined ? 0 : undefined
}

/**
 * Calls `done` once: with the body, or with undefined as soon as more than `most` bytes have arrived. Never when the connection
 * ends early.
 */
function receive(request: IncomingMessage, most: number, done: (body: Buffer | undefined) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const take = (chunk: Buffer): void => {
    bytes += chunk.length
    chunks.push(chunk)
    if (bytes <= most) return
    request.off('data', take)
    request.off('end', end)
    request.pause()
    done(undefined)
  }
  const end = (): void => done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
  request.on('data', take)
  request.on('end', end)
}
