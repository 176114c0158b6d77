// Moves requests to the API server and answers back: one undici Agent for the process, own CA, HTTP/1.1 keep-alive.
// It owns time limits, size limits, the wait that a 429 asks for, one retry with fresh credentials after a 401, and the last look at
// a write's guard. It knows no kind. HTTP/2 stays off: one connection per watch keeps a stuck one from holding up the others.
import { Agent, type Dispatcher } from 'undici'
import { keyText, type ObjectKey, type ResourceType } from '../../api/resource.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { readAtMost } from '../../lib/http/byte-stream.ts'
import { retryAfterSeconds } from '../../lib/http/retry-after.ts'
import type { WriteGuard } from './client.ts'
import type { KubeConnection } from './connection.ts'
import { KubeError, NotLeaderError } from './errors.ts'
import { linkSignals } from './linked-signal.ts'
import { collectionPath, objectPath } from './resource-path.ts'
import { errorFromStatus, parsedOrNothing } from './status.ts'

export type KubeRequest = {
  readonly verb: keyof typeof verbs
  readonly type: ResourceType
  /** Without a key the collection is meant, in all namespaces or in one. */
  readonly key?: ObjectKey
  readonly namespace?: string | undefined
  readonly subresource?: 'status' | 'log' | undefined
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  readonly guard?: WriteGuard | undefined
}

/** Sees every request with its status (0: no answer) and its time in seconds until the answer's head. */
export type RequestObserver = (request: KubeRequest, status: number, seconds: number) => void

export type TransportDeps = {
  readonly connection: KubeConnection
  /** Shown to the API server's audit log as `sekisho/<component>`. */
  readonly component: string
  readonly clock: Clock
  readonly observe?: RequestObserver
  /** Default 30 000. */
  readonly requestMilliseconds?: number
}

type Answer = Dispatcher.ResponseData

export type Transport = {
  /** The body of an answer 200-299, whole. */
  readonly fetch: (request: KubeRequest, limitBytes?: number) => Promise<Buffer>
  /** The body of an answer 200-299 as it comes; no time limit after the head. */
  readonly open: (request: KubeRequest) => Promise<Answer['body']>
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
const longestThrottleSeconds = 30
const throttleAttempts = 5

/** `get Secret acme/db`: how requests are named in errors. */
export function requestName({ verb, type, key }: KubeRequest): string {
  return `${verb} ${key === undefined ? type.plural : `${type.kind} ${keyText(key)}`}`
}

export function createTransport(deps: TransportDeps): Transport {
  const { connection, clock, requestMilliseconds = 30_000 } = deps
  const agent = createAgent(connection)
  const root = connection.server.pathname.replace(/\/$/, '')

  /** One exchange up to the answer's head. `limited`: the whole of it, body included, has `requestMilliseconds`. */
  async function once(request: KubeRequest, limited: boolean, fresh: boolean): Promise<Answer> {
    const { guard } = request
    const { method, contentType } = verbs[request.verb]
    const path = `${root}${pathOf(request)}`
    const authorization = await connection.authorization({ fresh })
    const ends = linkSignals([request.signal, guard?.signal], limited ? requestMilliseconds : undefined)
    const started = performance.now()
    const observe = (status: number): void => deps.observe?.(request, status, (performance.now() - started) / 1000)
    try {
      const dispatcher = guard === undefined ? agent : guarded(agent, guard, requestName(request))
      const answer = await dispatcher.request({
        origin: connection.server.origin,
        path,
        method,
        headers: {
          // A log is no JSON; everything else is asked for as JSON.
          accept: 'application/json, */*',
          'user-agent': `sekisho/${deps.component}`,
          authorization: authorization?.reveal(),
          'content-type': contentType,
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        headersTimeout: requestMilliseconds,
        bodyTimeout: 0,
        signal: ends.signal,
      })
      answer.body.once('close', ends.unlink)
      observe(answer.statusCode)
      return answer
    } catch (error) {
      ends.unlink()
      observe(0)
      throw brokenOff(request, error)
    }
  }

  /** A 429 is repeated (the server did nothing), to a watch by its reflector. Reads get one more chance on a broken connection. */
  async function exchange(request: KubeRequest, limited: boolean): Promise<Answer> {
    let fresh = false
    let mayRepeat = verbs[request.verb].method === 'GET'
    for (let attempt = 0; ; attempt++) {
      let answer: Answer
      try {
        answer = await once(request, limited, fresh)
      } catch (error) {
        if (!mayRepeat || request.signal?.aborted || !(error instanceof KubeError)) throw error
        mayRepeat = false
        continue
      }
      const { statusCode: status, headers } = answer
      if (status < 300) return answer
      const waitSeconds = retryAfterSeconds(headers['retry-after'], clock.now())
      const refusal = parsedOrNothing((await wholeOf(request, answer, largestRefusalBytes)).toString('utf8'))
      if (status === 401 && !fresh) {
        fresh = true
        continue
      }
      if (status !== 429 || !limited || attempt >= throttleAttempts)
        throw errorFromStatus(requestName(request), request.type, refusal, { status, waitSeconds })
      await clock.sleep(Math.min(waitSeconds ?? 1, longestThrottleSeconds) * 1000, request.signal ?? request.guard?.signal)
    }
  }

  return {
    async fetch(request, limitBytes = largestAnswerBytes) {
      return wholeOf(request, await exchange(request, true), limitBytes)
    },
    async open(request) {
      return (await exchange(request, false)).body
    },
    close: () => agent.destroy(),
  }
}

async function wholeOf(request: KubeRequest, { body }: Answer, limitBytes: number): Promise<Buffer> {
  const bytes = await readAtMost(limitBytes, body).catch((error: unknown) => {
    throw brokenOff(request, error)
  })
  if (bytes !== undefined) return bytes
  const message = `${requestName(request)}: the answer is larger than ${limitBytes} bytes`
  throw new KubeError(message, { status: 0, reason: 'TooLarge' })
}

/** undici calls `onRequestStart` in the same turn in which it writes to the socket: nothing comes between this look and the write. */
function guarded(agent: Agent, guard: WriteGuard, what: string): Dispatcher {
  return agent.compose(dispatch => (options, handler) => {
    const lastLook: Dispatcher.DispatchHandler = {
      onRequestStart(controller, context) {
        if (!guard.mayWrite()) throw new NotLeaderError(what)
        handler.onRequestStart?.(controller, context)
      },
      onResponseStart: (...head) => handler.onResponseStart?.(...head),
      onResponseData: (...chunk) => handler.onResponseData?.(...chunk),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...failure) => handler.onResponseError?.(...failure),
    }
    return dispatch(options, lastLook)
  })
}

function createAgent(connection: KubeConnection): Agent {
  const { ca, cert, key, servername, insecure } = connection.tls
  return new Agent({
    allowH2: false,
    // Short: connections that died while they were idle are not there any more when a watch has been found silent.
    keepAliveTimeout: 10_000,
    connect: { timeout: 10_000, ca, cert, key: key?.reveal(), servername, rejectUnauthorized: insecure !== true },
  })
}

function pathOf({ type, key, namespace, subresource, query = {} }: KubeRequest): string {
  const path = key === undefined ? collectionPath(type, namespace) : objectPath(type, key, subresource)
  const asked = new URLSearchParams(Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined))
  return asked.size === 0 ? path : `${path}?${asked}`
}

/** Why a request got no whole answer: its caller or guard ended it, or the server is out of reach. */
function brokenOff(request: KubeRequest, cause: unknown): unknown {
  for (const signal of [request.signal, request.guard?.signal]) if (signal?.aborted) return signal.reason
  if (cause instanceof NotLeaderError) return cause
  const message = `${requestName(request)}: no answer from the API server: ${messageOf(cause)}`
  return new KubeError(message, { status: 0, reason: 'Unreachable', cause })
}
