// The only HTTP server factory: time limits, body limits, request ids, rate limits, one error handler, one log line per request.
// It depends on no process and no route, and never trusts request ids that a client sends, nor X-Forwarded-For but from trusted proxies.
import { constants, randomUUID } from 'node:crypto'
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener, type ServerOptions } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import type { SecureContextOptions, TlsOptions } from 'node:tls'
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
import { certificateAlarm } from './certificate-alarm.ts'
import { type AddressList, parseAddressList } from './clients/address-list.ts'
import { clientKey, type ProvenClient } from './clients/client-key.ts'
import { type ConnectionGuard, type ConnectionOptions, guardConnections } from './connections/guard-connections.ts'
import { type ErrorAnswer, errorAnswer } from './error-answer.ts'
import type { Html } from './html.ts'
import { addSecurityHeaders, type SecurityHeaderOptions } from './security-headers.ts'
import type { Certificate, KeyPair } from './tls.ts'

/** A Fastify server whose routes get their types from their TypeBox schemas. */
export type WebServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type WebServerOptions = {
  readonly log: Log
  /** Without a certificate the server uses plain HTTP: only for loopback and probes. */
  readonly certificate?: Certificate
  /** The common names of acceptable client certificates, where the certificate demands them. Default: any. */
  readonly clientNames?: readonly string[]
  /** For the check of the certificate's expiry. */
  readonly clock?: Clock
  /** Bytes; a route may allow more. Default 64 KiB. */
  readonly bodyLimit?: number
  /** Requests per minute and client, over all routes without a limit of their own. Default 1200. `unlimited`: routes limit their clients themselves. */
  readonly requestsPerMinute?: number | 'unlimited'
  /** The proxies whose `X-Forwarded-For` counts, one entry per hop from the right. Default: no proxy. */
  readonly trustedProxies?: AddressList
  /** Every connection must then be one of a trusted proxy and begin with a header of the PROXY protocol. Default false. */
  readonly proxyProtocol?: boolean
  readonly connections?: Pick<ConnectionOptions, 'most' | 'mostOfClient'>
  /** How long clients may take, in milliseconds; tests shorten it. */
  readonly patience?: Partial<typeof defaultPatience>
  /** Recognises clients that are counted by themselves rather than by their address. */
  readonly provenClient?: ProvenClient
  /** Called for every reply, because the allowed form targets can change while the server runs. */
  readonly headers?: () => SecurityHeaderOptions
  /** The error page for browsers. Without it, and for programs, errors are JSON. */
  readonly errorPage?: (answer: ErrorAnswer, requestId: string) => Html
}

/** For a TLS handshake, for the headers of a request after its connection or the request before, and for a whole request. */
const defaultPatience = { handshake: 10_000, headers: 10_000, request: 30_000 }

function nodeServer(listener: RequestListener, options: WebServerOptions): HttpServer | HttpsServer {
  const { certificate, log, clock = systemClock, patience } = options
  const { handshake, headers, request } = { ...defaultPatience, ...patience }
  const limits: ServerOptions = {
    requestTimeout: request,
    headersTimeout: headers,
    // By default Node looks at the two limits above only every half minute.
    connectionsCheckingInterval: Math.min(1000, headers),
    keepAliveTimeout: 72_000,
    maxHeaderSize: 32_768,
  }
  if (certificate === undefined) return createHttpServer(limits, listener)
  const server = createHttpsServer({ ...limits, ...tlsOptions(certificate.current()), handshakeTimeout: handshake }, listener)
  if (certificate.current().clientAuthorities !== undefined && options.clientNames) acceptOnly(server, options.clientNames)
  const unsubscribe = certificate.onChange(next => server.setSecureContext(tlsOptions(next)))
  const alarm = certificateAlarm(certificate, { clock, log })
  alarm.start()
  server.once('close', () => {
    unsubscribe()
    void alarm.stop()
  })
  return server
}

function tlsOptions({ certificate, privateKey, clientAuthorities }: KeyPair): TlsOptions & SecureContextOptions {
  const pair = { cert: certificate, key: privateKey.reveal(), minVersion: 'TLSv1.2' } as const
  if (clientAuthorities === undefined) return pair
  // Without tickets: a resumed session would not be verified by an authority that was replaced since.
  const secureOptions = constants.SSL_OP_NO_TICKET
  return { ...pair, ca: clientAuthorities, requestCert: true, rejectUnauthorized: true, secureOptions }
}

/** Ends the connections of verified clients with another name, before a byte of a request is read. */
function acceptOnly(server: HttpsServer, names: readonly string[]): void {
  server.prependListener('secureConnection', socket => {
    const { subject } = socket.getPeerCertificate()
    const name: unknown = subject?.CN
    if (typeof name !== 'string' || !names.includes(name)) socket.destroy()
  })
}

function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html')
}

/** A server that does not listen yet and has no routes; `listen` starts it. */
export async function createWebServer(options: WebServerOptions): Promise<WebServer> {
  const { log, trustedProxies, connections, proxyProtocol = false } = options
  let guard: ConnectionGuard | undefined
  const server = fastify({
    logger: false,
    serverFactory(listener) {
      const made = nodeServer(listener, options)
      guard = guardConnections(made, {
        ...connections,
        ...(proxyProtocol ? { proxies: trustedProxies ?? parseAddressList('') } : {}),
      })
      return made
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

/** Resolves to the port, which the system chooses for port 0. */
export async function listen(server: WebServer, address: { readonly host: string; readonly port: number }): Promise<number> {
  await server.listen({ host: address.host, port: address.port })
  const bound = server.server.address()
  if (typeof bound !== 'object' || bound === null) throw new AppError('internal', 'the server has no address')
  return bound.port
}
