// Moves requests to the API server and answers back: one undici Agent for the process, own CA, HTTP/1.1 keep-alive.
// It owns time limits, size limits, the wait that a 429 asks for, one retry with fresh credentials after a 401, and the last look at
// a write's guard. It knows no kind. HTTP/2 stays off: one connection per watch keeps a stuck one from holding up the others.
import { Agent, type Dispatcher, request as send } from 'undici'
import type { ObjectKey, ResourceType } from '../../api/resource.ts'
import { keyText } from '../../api/resource.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { KubeConnection } from '../connection/connection.ts'
import type { WriteGuard } from './client.ts'
import { KubeError, NotLeaderError } from './errors.ts'
import { errorFromAnswer, retryAfterSeconds } from './status.ts'

export type KubeRequest = {
  readonly verb: keyof typeof methods
  readonly type: ResourceType
  /** Without a key the collection is meant. */
  readonly key?: ObjectKey
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly contentType?: string
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  readonly guard?: WriteGuard | undefined
}

/** Sees every request with its status (0: no answer) and its time in seconds until the answer's head. */
export type RequestObserver = (request: KubeRequest, status: number, seconds: number) => void

export type TransportDeps = {
  readonly connection: KubeConnection
  readonly userAgent: string
  readonly clock: Clock
  readonly observe?: RequestObserver
  readonly requestMilliseconds?: number
}

type Body = Dispatcher.ResponseData['body']

export type Transport = {
  /** The body of an answer 200-299, whole. */
  readonly fetch: (request: KubeRequest, limitBytes?: number) => Promise<Buffer>
  /** The body of an answer 200-299 as it comes; no time limit after the head. */
  readonly open: (request: KubeRequest) => Promise<Body>
  readonly close: () => Promise<void>
}

const methods = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  apply: 'PATCH',
  patch: 'PATCH',
  delete: 'DELETE',
} as const
const largestAnswerBytes = 64 * 1024 * 1024
const largestRefusalBytes = 256 * 1024
const longestThrottleSeconds = 30
const throttleAttempts = 5

/** `get Secret acme/db`: how requests are named in errors. */
export function requestName(request: KubeRequest): string {
  const target = request.key === undefined ? request.type.plural : `${request.type.kind} ${keyText(request.key)}`
  return `${request.verb} ${target}`
}

export function createTransport(deps: TransportDeps): Transport {
  const { connection, clock, requestMilliseconds = 30_000 } = deps
  const agent = createAgent(connection)

  /** One exchange up to the answer's head. `limited`: the whole of it, body included, has `requestMilliseconds`. */
  async function once(request: KubeRequest, limited: boolean, fresh: boolean): Promise<Dispatcher.ResponseData> {
    const { guard } = request
    const limit = limited ? AbortSignal.timeout(requestMilliseconds) : undefined
    const signals = [limit, request.signal, guard?.signal].filter(signal => signal !== undefined)
    const authorization = await connection.authorization({ fresh })
    const started = performance.now()
    const observe = (status: number): void => deps.observe?.(request, status, (performance.now() - started) / 1000)
    try {
      const answer = await send(urlOf(connection.server, request), {
        dispatcher: guard === undefined ? agent : guarded(agent, guard, requestName(request)),
        method: methods[request.verb],
        headers: {
          accept: request.path.endsWith('/log') ? '*/*' : 'application/json',
          'user-agent': deps.userAgent,
          ...(authorization === undefined ? {} : { authorization: authorization.reveal() }),
          ...(request.contentType === undefined ? {} : { 'content-type': request.contentType }),
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        headersTimeout: requestMilliseconds,
        bodyTimeout: 0,
        signal: signals.length === 0 ? null : AbortSignal.any(signals),
      })
      observe(answer.statusCode)
      return answer
    } catch (error) {
      observe(0)
      throw brokenOff(request, error)
    }
  }

  /** Only a 429 is repeated here: it says that the server did nothing. Reads also get one more chance on a broken connection. */
  async function exchange(request: KubeRequest, limited: boolean): Promise<Dispatcher.ResponseData> {
    let fresh = false
    let broken = false
    for (let attempt = 0; ; attempt++) {
      let answer: Dispatcher.ResponseData
      try {
        answer = await once(request, limited, fresh)
      } catch (error) {
        if (broken || methods[request.verb] !== 'GET' || request.signal?.aborted || !(error instanceof KubeError)) throw error
        broken = true
        continue
      }
      if (answer.statusCode < 300) return answer
      const wait = retryAfterSeconds(answer.headers['retry-after'], clock.now())
      const refusal = await read(request, answer.body, largestRefusalBytes)
      if (answer.statusCode === 401 && !fresh) {
        fresh = true
        continue
      }
      if (answer.statusCode !== 429 || attempt >= throttleAttempts)
        throw errorFromAnswer(requestName(request), request.type, answer.statusCode, refusal.toString('utf8'), wait)
      await clock.sleep(Math.min(wait ?? 1, longestThrottleSeconds) * 1000, request.signal ?? request.guard?.signal)
    }
  }

  return {
    async fetch(request, limitBytes = largestAnswerBytes) {
      return read(request, (await exchange(request, true)).body, limitBytes)
    },
    async open(request) {
      return (await exchange(request, false)).body
    },
    close: () => agent.destroy(),
  }
}

async function read(request: KubeRequest, body: Body, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > limitBytes) break
      chunks.push(bytes)
    }
  } catch (error) {
    throw brokenOff(request, error)
  }
  if (size <= limitBytes) return Buffer.concat(chunks)
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

function urlOf(server: URL, request: KubeRequest): URL {
  const url = new URL(server)
  url.pathname = `${server.pathname.replace(/\/$/, '')}${request.path}`
  for (const [name, value] of Object.entries(request.query ?? {})) if (value !== undefined) url.searchParams.set(name, value)
  return url
}

/** Why a request got no whole answer: its caller or guard ended it, or the server is out of reach. */
function brokenOff(request: KubeRequest, cause: unknown): unknown {
  for (const signal of [request.signal, request.guard?.signal]) if (signal?.aborted) return signal.reason
  if (cause instanceof NotLeaderError) return cause
  const message = `${requestName(request)}: no answer from the API server: ${messageOf(cause)}`
  return new KubeError(message, { status: 0, reason: 'Unreachable', cause })
}
