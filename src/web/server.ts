// The HTTP server of everything that has routes: time limits, body limits, request ids, rate limits, one error handler, one log
// line per request. (The webhook of API servers has the smaller post-server.ts; both stand on node-server.ts.) It depends on no
// process and no route, and never trusts request ids that a client sends, nor X-Forwarded-For but from trusted proxies.
import { randomUUID } from 'node:crypto'
import rateLimit from '@fastify/rate-limit'
import { type TypeBoxTypeProvider, TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import { systemClock } from '../lib/clock.ts'
import { AppError, isOfOthers } from '../lib/errors.ts'
import { type Log, redactTokens } from '../lib/log.ts'
import type { AddressList } from './clients/address-list.ts'
import { addressKey, clientAddress, clientKey, type ProvenClient } from './clients/client-key.ts'
import type { ConnectionGuard } from './connections/guard-connections.ts'
import { createNodeServer, defaultPatience, type NodeServerOptions } from './connections/node-server.ts'
import { type ErrorAnswer, errorAnswer } from './error-answer.ts'
import type { Html } from './html.ts'
import type { AnsweredRequest } from './metrics.ts'
import { createRefusalLines, type RefusalLines } from './refusal-lines.ts'
import { addSecurityHeaders, type SecurityHeaderOptions } from './security-headers.ts'

/** A Fastify server whose routes get their types from their TypeBox schemas. */
export type WebServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type WebServerOptions = NodeServerOptions & {
  /** Bytes; a route may allow more. Default 64 KiB. */
  readonly bodyLimit?: number
  /**
   * Requests per minute and client, over all routes without a limit of their own. Default 1200. `unlimited`: routes limit their
   * clients themselves.
   */
  readonly requestsPerMinute?: number | 'unlimited'
  /** The proxies whose `X-Forwarded-For` counts, one entry per hop from the right. Default: no proxy. */
  readonly trustedProxies?: AddressList
  /** Recognises clients that are counted by themselves rather than by their address. */
  readonly provenClient?: ProvenClient
  /**
   * Called for every reply, because the allowed form targets can change while the server runs; another object means other
   * headers.
   */
  readonly headers?: () => SecurityHeaderOptions
  /** The error page for browsers. Without it, and for programs, errors are JSON. */
  readonly errorPage?: (answer: ErrorAnswer, requestId: string) => Html
  /** Told of every answered request. */
  readonly observe?: (request: AnsweredRequest) => void
}

function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html')
}

// Memory (rate limits of HTTP servers): proven person or grant, else client address → requests in the window
//   life: a minute
//   bound: 5,000 clients of each limit, the one seen longest ago forgotten first (@fastify/rate-limit)
//   freshness: the end of the window
//   replicas: each counts: two allow twice as much
/** A server that does not listen yet and has no routes; `listen` starts it. */
export async function createWebServer(options: WebServerOptions): Promise<WebServer> {
  const { log, trustedProxies } = options
  let guard: ConnectionGuard | undefined
  const server = fastify({
    logger: false,
    serverFactory(listener) {
      const made = createNodeServer(listener, options)
      guard = made.guard
      return made.server
    },
    bodyLimit: options.bodyLimit ?? 65_536,
    connectionTimeout: defaultPatience.request,
    requestTimeout: options.patience?.request ?? defaultPatience.request,
    forceCloseConnections: 'idle',
    // A client address, never a host or scheme: nothing reads those from a request.
    trustProxy: address => trustedProxies?.contains(address) ?? false,
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 200 },
  }).withTypeProvider<TypeBoxTypeProvider>()
  server.setValidatorCompiler(TypeBoxValidatorCompiler)

  server.addHook('preClose', async () => guard?.endSilent())
  server.addHook('onRequest', (request, reply, next) => {
    reply.header('x-request-id', request.id)
    next()
  })
  if (options.headers) addSecurityHeaders(server, options.headers)
  server.addHook('onResponse', (request, reply, next) => {
    const route = request.routeOptions.url ?? 'none'
    const milliseconds = Math.round(reply.elapsedTime)
    options.observe?.({ route, status: reply.statusCode, seconds: reply.elapsedTime / 1000 })
    log.debug(
      { requestId: request.id, method: request.method, route, status: reply.statusCode, milliseconds },
      'request answered',
    )
    next()
  })

  const { requestsPerMinute = 1200 } = options
  await server.register(rateLimit, {
    ...(requestsPerMinute === 'unlimited' ? { global: false } : { global: true, max: requestsPerMinute }),
    timeWindow: 60_000,
    keyGenerator: request => clientKey(request, options.provenClient),
    errorResponseBuilder: (_request, context) =>
      new AppError('too_many_requests', 'too many requests: try again later', {
        retryAfterSeconds: Math.ceil(context.ttl / 1000),
      }),
  })

  const lines = createRefusalLines(systemClock)
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const answer = errorAnswer(error)
    logRefusal(log, lines, { request, answer, error })
    if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', String(answer.retryAfterSeconds))
    if (answer.status === 401 && !wantsPage(request)) reply.header('www-authenticate', 'Bearer')
    // Close the connection: reading the rest of an oversized body only to discard it would serve its sender.
    if (answer.status === 413) reply.header('connection', 'close')
    reply.code(answer.status)
    if (options.errorPage && wantsPage(request))
      return reply.type('text/html; charset=utf-8').send(options.errorPage(answer, request.id).toString())
    return reply.type('application/json').send({ error: { code: answer.code, message: answer.message, requestId: request.id } })
  }
  server.setErrorHandler(answerError)
  server.setNotFoundHandler({ preHandler: server.rateLimit({ max: 60, timeWindow: 60_000 }) }, (request, reply) =>
    answerError(new AppError('not_found', 'not found'), request, reply),
  )
  return server
}

type Refused = { readonly request: FastifyRequest; readonly answer: ErrorAnswer; readonly error: unknown }

/**
 * One line with the request id, within a rate. What was refused as it should be is information and has no stack; the message is
 * the one that the client got.
 */
function logRefusal(log: Log, lines: RefusalLines, { request, answer, error }: Refused): void {
  const line = lines.take(addressKey(clientAddress(request)))
  if (line === undefined) return
  const { status, code, message } = answer
  const fields = {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'none',
    status,
    code,
    ...(line.leftOut === 0 ? {} : { leftOut: line.leftOut }),
  }
  if (status < 500) log.info({ ...fields, reason: message }, 'request refused')
  // Something else does not answer as it should: where in our code that was noticed helps nobody.
  else if (isOfOthers(error)) log.error({ ...fields, reason: redactTokens(error.message) }, 'request failed')
  else log.error({ ...fields, error }, 'request failed')
}

/** Resolves to the port, which the system chooses for port 0. */
export async function listen(server: WebServer, address: { readonly host: string; readonly port: number }): Promise<number> {
  await server.listen({ host: address.host, port: address.port })
  const bound = server.server.address()
  if (typeof bound !== 'object' || bound === null) throw new AppError('internal', 'the server has no address')
  return bound.port
}
