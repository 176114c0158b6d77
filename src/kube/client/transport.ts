// Sends requests to the API server: one undici Agent for the process, own CA, HTTP/1.1 keep-alive. It owns time limits, size
// limits, retries (429, 401, broken connections) and the last check of a write's guard. It depends on no kind. HTTP/2 is off:
// with one connection per watch, a connection that hangs does not delay other requests.
import { Agent, type Dispatcher } from 'undici'
import { keyText, type ObjectKey, type ResourceType } from '../../api/resource.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { readAtMost } from '../../lib/http/byte-stream.ts'
import { retryAfterSeconds } from '../../lib/http/retry-after.ts'
import { parseJson } from '../../lib/json/json-value.ts'
import type { WriteGuard } from './client.ts'
import type { KubeConnection } from './connection.ts'
import { errorFromStatus, KubeError, NotLeaderError } from './errors.ts'
import { linkSignals } from './linked-signal.ts'
import { collectionPath, objectPath } from './resource-path.ts'

export type KubeRequest = {
  readonly verb: keyof typeof verbs
  readonly type: ResourceType
  /** Absent: the collection, in `namespace` or in all namespaces. */
  readonly key?: ObjectKey
  readonly namespace?: string | undefined
  readonly subresource?: 'status' | 'log' | undefined
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  readonly guard?: WriteGuard | undefined
}

/** Called for every request with its status (0: no response) and the seconds until the head of the response. */
export type RequestObserver = (request: KubeRequest, status: number, seconds: number) => void

export type TransportDeps = {
  readonly connection: KubeConnection
  /** The User-Agent is `sekisho/<component>`; the API server's audit log shows it. */
  readonly component: string
  readonly clock: Clock
  readonly observe?: RequestObserver
  /** Default 30 000. */
  readonly requestMilliseconds?: number
}

type Answer = Dispatcher.ResponseData

export type Transport = {
  /** Resolves to the whole body of a 2xx response. Rejects with KubeError, NotLeaderError or the signal's reason. */
  readonly fetch: (request: KubeRequest, limitBytes?: number) => Promise<Buffer>
  /** Resolves to the body stream of a 2xx response; there is no time limit after its head. Rejects as `fetch` does. */
  readonly open: (request: KubeRequest) => Promise<Answer['body']>
  /** Ends all connections; requests in progress fail. */
  readonly close: () => Promise<void>
}

const read = { method: 'GET', contentType: undefined } as const
const verbs = {
  get: read,
  list: read,
  watch: read,
  create: { method: 'POST', contentType: 'application/json' },
  apply: { method: 'PATCH', contentType: 'application/apply-patch+yaml' },
  patch: { method: 'PATCH', contentType: 'application/merge-patch+json' },
  delete: { method: 'DELETE', contentType: 'application/json' },
} as const
const largestAnswerBytes = 64 * 1024 * 1024
const largestRefusalBytes = 256 * 1024
const maxThrottleSeconds = 30
const throttleRetries = 5

/** The name of a request in error messages, such as `get Secret acme/db`. */
export function requestName({ verb, type, key }: KubeRequest): string {
  return `${verb} ${key === undefined ? type.plural : `${type.kind} ${keyText(key)}`}`
}

/**
 * JSON that is YAML as well, as which the API server reads an apply: YAML has no control characters, and JSON escapes only
 * those below U+0020.
 * Source: https://yaml.org/spec/1.2.2/#51-character-set
 */
function encoded(body: unknown): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(body).replaceAll(/[\u007f-\u009f\ufeff\ufffe\uffff]/g, escaped)
}

/** One instance keeps one pool of connections. */
export function createTransport(deps: TransportDeps): Transport {
  const { connection, clock, requestMilliseconds = 30_000 } = deps
  const agent = createAgent(connection)
  const root = connection.server.pathname.replace(/\/$/, '')

  /**
   * Sends once. Errors that may be retried are returned, others thrown. `limited`: body included, it ends within
   * `requestMilliseconds`.
   */
  async function send(request: KubeRequest, limited: boolean, fresh: boolean): Promise<Answer | KubeError> {
    const { guard } = request
    const { method, contentType } = verbs[request.verb]
    const path = `${root}${pathOf(request)}`
    const authorization = await connection.authorization({ fresh })
    const ends = linkSignals([request.signal, guard?.signal], limited ? requestMilliseconds : undefined)
    const started = performance.now()
    const observe = (status: number): void => deps.observe?.(request, status, (performance.now() - started) / 1000)
    let answer: Answer
    try {
      const dispatcher = guard === undefined ? agent : guarded(agent, guard, requestName(request))
      answer = await dispatcher.request({
        origin: connection.server.origin,
        path,
        method,
        headers: {
          // Pod logs are plain text; everything else is JSON.
          accept: 'application/json, */*',
          'user-agent': `sekisho/${deps.component}`,
          authorization: authorization?.reveal(),
          'content-type': contentType,
        },
        body: request.body === undefined ? null : encoded(request.body),
        headersTimeout: requestMilliseconds,
        bodyTimeout: 0,
        signal: ends.signal,
      })
    } catch (cause) {
      ends.unlink()
      observe(0)
      const error = interruption(request, cause)
      if (error instanceof KubeError) return error
      throw error
    }
    answer.body.once('close', ends.unlink)
    observe(answer.statusCode)
    if (answer.statusCode < 300) return answer
    return refusalOf(request, answer, retryAfterSeconds(answer.headers['retry-after'], clock.now()))
  }

  /** Retries as `retriesByStatus` allows. A 429 is safe to retry, because the server did not process the request. */
  async function sendWithRetries(request: KubeRequest, limited: boolean): Promise<Answer> {
    const retriesLeft = retriesByStatus(request, limited)
    for (;;) {
      const result = await send(request, limited, retriesLeft.get(401) === 0)
      if (!(result instanceof KubeError)) return result
      const { status, retryAfterSeconds: waitSeconds = 1 } = result
      const retries = retriesLeft.get(status) ?? 0
      if (retries === 0) throw result
      retriesLeft.set(status, retries - 1)
      if (status === 429)
        await clock.sleep(Math.min(waitSeconds, maxThrottleSeconds) * 1000, request.signal ?? request.guard?.signal)
    }
  }

  return {
    async fetch(request, limitBytes = largestAnswerBytes) {
      return readBody(request, await sendWithRetries(request, true), limitBytes)
    },
    async open(request) {
      return (await sendWithRetries(request, false)).body
    },
    close: () => agent.destroy(),
  }
}

/**
 * Retries by status: 0 (a broken connection) once for reads, 401 once with fresh credentials, 429 unless the reflector does it
 * for its watch.
 */
function retriesByStatus({ verb }: KubeRequest, limited: boolean): Map<number, number> {
  return new Map([
    [0, verbs[verb].method === 'GET' ? 1 : 0],
    [401, 1],
    [429, limited ? throttleRetries : 0],
  ])
}

/** Reads the error in the body of a refusal. Rejects when the body cannot be read. */
async function refusalOf(request: KubeRequest, answer: Answer, waitSeconds: number | undefined): Promise<KubeError> {
  const text = (await readBody(request, answer, largestRefusalBytes)).toString('utf8')
  return errorFromStatus(requestName(request), request.type, parseJson(text), { status: answer.statusCode, waitSeconds })
}

async function readBody(request: KubeRequest, { body }: Answer, limitBytes: number): Promise<Buffer> {
  const bytes = await readAtMost(limitBytes, body).catch((error: unknown) => {
    throw interruption(request, error)
  })
  if (bytes !== undefined) return bytes
  const message = `${requestName(request)}: the response is larger than ${limitBytes} bytes`
  throw new KubeError(message, { status: 0, reason: 'TooLarge' })
}

/**
 * undici calls `onRequestStart` in the turn in which it writes to the socket, so nothing can happen between this check and the
 * write.
 */
function guarded(agent: Agent, guard: WriteGuard, what: string): Dispatcher {
  return agent.compose(dispatch => (options, handler) => {
    const lastCheck: Dispatcher.DispatchHandler = {
      onRequestStart(controller, context) {
        if (!guard.mayWrite()) throw new NotLeaderError(what)
        handler.onRequestStart?.(controller, context)
      },
      onResponseStart: (...head) => handler.onResponseStart?.(...head),
      onResponseData: (...chunk) => handler.onResponseData?.(...chunk),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...failure) => handler.onResponseError?.(...failure),
    }
    return dispatch(options, lastCheck)
  })
}

/** The pool is short-lived: connections that died while idle are closed before a silent watch is replaced. */
export function createAgent(connection: KubeConnection): Agent {
  const { ca, cert, key, servername, insecure } = connection.tls
  return new Agent({
    allowH2: false,
    keepAliveTimeout: 10_000,
    connect: { timeout: 10_000, ca, cert, key: key?.reveal(), servername, rejectUnauthorized: insecure !== true },
  })
}

function pathOf({ type, key, namespace, subresource, query = {} }: KubeRequest): string {
  const path = key === undefined ? collectionPath(type, namespace) : objectPath(type, key, subresource)
  const search = new URLSearchParams(Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined))
  return search.size === 0 ? path : `${path}?${search}`
}

/** Why a request has no complete response: its caller or guard ended it, or the server is unreachable. */
function interruption(request: KubeRequest, cause: unknown): unknown {
  for (const signal of [request.signal, request.guard?.signal]) if (signal?.aborted) return signal.reason
  if (cause instanceof NotLeaderError) return cause
  const message = `${requestName(request)}: no response from the API server: ${messageOf(cause)}`
  return new KubeError(message, { status: 0, reason: 'Unreachable', cause })
}
