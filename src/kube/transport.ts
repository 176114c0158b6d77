// Moves requests to the API server and answers back: one undici Agent for the process, own CA, HTTP/1.1 keep-alive.
// It owns time limits, size limits, the wait that a 429 asks for, one retry with fresh credentials after a 401, and the mapping of
// refusals to KubeError. It knows no kind. HTTP/2 stays off: one connection per watch keeps a stuck one from holding up the others.
import { Agent, type Dispatcher, request as send } from 'undici'
import type { ObjectKey, ResourceType } from '../api/resource.ts'
import { keyText } from '../api/resource.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { KubeConnection } from './connection.ts'
import { KubeError } from './errors.ts'
import { errorFromAnswer, retryAfterSeconds } from './status.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'delete'

export type KubeRequest = {
  readonly verb: Verb
  readonly type: ResourceType
  /** Without a key the collection is meant. */
  readonly key?: ObjectKey
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly contentType?: string
  readonly body?: unknown
  readonly signal?: AbortSignal
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

export type Transport = {
  /** The body of an answer 200-299, whole. */
  readonly fetch: (request: KubeRequest, limitBytes?: number) => Promise<Buffer>
  /** The body of an answer 200-299 as it comes; no time limit after the head. */
  readonly open: (request: KubeRequest) => Promise<Dispatcher.ResponseData['body']>
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

  async function once(request: KubeRequest, signal: AbortSignal | undefined, fresh: boolean): Promise<Dispatcher.ResponseData> {
    const authorization = await connection.authorization({ fresh })
    const started = performance.now()
    try {
      const answer = await send(urlOf(connection.server, request), {
        dispatcher: agent,
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
        signal: signal ?? null,
      })
      deps.observe?.(request, answer.statusCode, (performance.now() - started) / 1000)
      return answer
    } catch (error) {
      deps.observe?.(request, 0, (performance.now() - started) / 1000)
      request.signal?.throwIfAborted()
      throw unreachable(request, error)
    }
  }

  /** Only a 429 is repeated here: it says that the server did nothing. Reads also get one more chance on a broken connection. */
  async function exchange(request: KubeRequest, signalOf: () => AbortSignal | undefined): Promise<Dispatcher.ResponseData> {
    let fresh = false
    let broken = false
    for (let attempt = 0; ; attempt++) {
      let answer: Dispatcher.ResponseData
      try {
        answer = await once(request, signalOf(), fresh)
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
      await clock.sleep(Math.min(wait ?? 1, longestThrottleSeconds) * 1000, request.signal)
    }
  }

  async function read(request: KubeRequest, body: Dispatcher.ResponseData['body'], limitBytes: number): Promise<Buffer> {
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
      request.signal?.throwIfAborted()
      throw unreachable(request, error)
    }
    if (size > limitBytes)
      throw new KubeError(`${requestName(request)}: the answer is larger than ${limitBytes} bytes`, {
        status: 0,
        reason: 'TooLarge',
      })
    return Buffer.concat(chunks)
  }

  return {
    async fetch(request, limitBytes = largestAnswerBytes) {
      const signalOf = (): AbortSignal => {
        const limit = AbortSignal.timeout(requestMilliseconds)
        return request.signal === undefined ? limit : AbortSignal.any([limit, request.signal])
      }
      const answer = await exchange(request, signalOf)
      return read(request, answer.body, limitBytes)
    },
    async open(request) {
      return (await exchange(request, () => request.signal)).body
    },
    close: () => agent.destroy(),
  }
}

function createAgent(connection: KubeConnection): Agent {
  const { ca, cert, key, servername, insecure } = connection.tls
  return new Agent({
    allowH2: false,
    keepAliveTimeout: 60_000,
    connect: {
      timeout: 10_000,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key: key.reveal() }),
      ...(servername === undefined ? {} : { servername }),
      ...(insecure === true ? { rejectUnauthorized: false } : {}),
    },
  })
}

function urlOf(server: URL, request: KubeRequest): URL {
  const url = new URL(server)
  url.pathname = `${server.pathname.replace(/\/$/, '')}${request.path}`
  for (const [name, value] of Object.entries(request.query ?? {})) if (value !== undefined) url.searchParams.set(name, value)
  return url
}

function unreachable(request: KubeRequest, cause: unknown): KubeError {
  return new KubeError(`${requestName(request)}: no answer from the API server: ${messageOf(cause)}`, {
    status: 0,
    reason: 'Unreachable',
    cause,
  })
}
