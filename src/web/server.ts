// The one way to make an HTTP server: time limits, body limits, request ids, rate limits, one error handler, one log line a request.
// Knows no process and no route. Client-sent request ids and X-Forwarded-* are never believed.
import { randomUUID } from 'node:crypto'
import { createServer as createHttpServer, type RequestListener, type ServerOptions } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
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
import { type Clock, systemClock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { watchExpiry } from './certificate-alarm.ts'
import { type ErrorAnswer, errorAnswer } from './error-answer.ts'
import type { Html } from './html.ts'
import { addSecurityHeaders, type SecurityHeaderOptions } from './security-headers.ts'
import type { Certificate } from './tls.ts'

/** Routes get their types from their TypeBox schemas. */
export type WebServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type WebServerOptions = {
  readonly log: Log
  /** Without one the server speaks plain http: only for loopback and probes. */
  readonly certificate?: Certificate
  /** By which the certificate's end is judged. */
  readonly clock?: Clock
  /** Bytes; a route may allow more. Default 64 KiB. */
  readonly bodyLimit?: number
  /** Requests a minute and address, over all routes. Default 1200. `unlimited` is for routes that bound their callers by other means. */
  readonly requestsPerMinute?: number | 'unlimited'
  /** Asked for every reply: what a form may lead to can change while we serve. */
  readonly headers?: () => SecurityHeaderOptions
  /** Shows an error to a person; without it, or to a program, errors are JSON. */
  readonly errorPage?: (answer: ErrorAnswer, requestId: string) => Html
}

const requestTimeoutMilliseconds = 30_000

function nodeServer(listener: RequestListener, { certificate, log, clock = systemClock }: WebServerOptions) {
  const limits: ServerOptions = {
    requestTimeout: requestTimeoutMilliseconds,
    headersTimeout: 10_000,
    keepAliveTimeout: 72_000,
    maxHeaderSize: 32_768,
  }
  if (certificate === undefined) return createHttpServer(limits, listener)
  const pair = certificate.current()
  const server = createHttpsServer(
    { ...limits, cert: pair.certificate, key: pair.privateKey.reveal(), minVersion: 'TLSv1.2' },
    listener,
  )
  const stop = certificate.onChange(next => server.setSecureContext({ cert: next.certificate, key: next.privateKey.reveal() }))
  const watched = watchExpiry(certificate, { clock, log })
  server.once('close', () => {
    stop()
    watched()
  })
  return server
}

function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html')
}

export async function createWebServer(options: WebServerOptions): Promise<WebServer> {
  const { log } = options
  const server = fastify({
    logger: false,
    serverFactory: listener => nodeServer(listener, options),
    bodyLimit: options.bodyLimit ?? 65_536,
    connectionTimeout: requestTimeoutMilliseconds,
    requestTimeout: requestTimeoutMilliseconds,
    forceCloseConnections: 'idle',
    trustProxy: false,
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 200 },
  }).withTypeProvider<TypeBoxTypeProvider>()
  server.setValidatorCompiler(TypeBoxValidatorCompiler)

  server.addHook('onRequest', (request, reply, next) => {
    reply.header('x-request-id', request.id)
    next()
  })
  if (options.headers) addSecurityHeaders(server, options.headers)
  server.addHook('onResponse', (request, reply, next) => {
    const route = request.routeOptions.url ?? 'none'
    const milliseconds = Math.round(reply.elapsedTime)
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
    errorResponseBuilder: (_request, context) =>
      new AppError('too_many_requests', 'too many requests: wait a little', { retryAfterSeconds: Math.ceil(context.ttl / 1000) }),
  })

  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const answer = errorAnswer(error)
    const fields = {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: answer.status,
      error,
    }
    if (answer.status >= 500) log.error(fields, 'request failed')
    else log.debug(fields, 'request refused')
    if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', String(answer.retryAfterSeconds))
    if (answer.status === 401 && !wantsPage(request)) reply.header('www-authenticate', 'Bearer')
    // The rest of the body is on its way still: reading it only to throw it away is what its sender wants.
    if (answer.status === 413) reply.header('connection', 'close')
    reply.code(answer.status)
    if (options.errorPage && wantsPage(request))
      return reply.type('text/html; charset=utf-8').send(options.errorPage(answer, request.id).toString())
    return reply.type('application/json').send({ error: { code: answer.code, message: answer.message, requestId: request.id } })
  }
  server.setErrorHandler(answerError)
  server.setNotFoundHandler({ preHandler: server.rateLimit({ max: 60, timeWindow: 60_000 }) }, (request, reply) =>
    answerError(new AppError('not_found', 'there is nothing here'), request, reply),
  )
  return server
}

/** Listens and says where: the port is the one the system chose when 0 was asked for. */
export async function listen(server: WebServer, address: { readonly host: string; readonly port: number }): Promise<number> {
  await server.listen({ host: address.host, port: address.port })
  const bound = server.server.address()
  if (typeof bound !== 'object' || bound === null) throw new AppError('internal', 'the server has no address')
  return bound.port
}
