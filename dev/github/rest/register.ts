// Owns: HTTP around the REST routes: authentication, rate limit, faults, headers, ETag and 304, errors. Never knows what a route does.
// https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api
import { createHash, randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../access.ts'
import { Refusal } from '../actions/outcome.ts'
import type { Context } from '../context.ts'
import { authenticate, basicCredentials } from '../tokens/authenticate.ts'
import { errorBody, type RestAnswer, RestError } from './answer.ts'
import { type Bucket, createRateLimiter, type RateLimiter } from './rate-limit.ts'
import type { RestRoute } from './route.ts'
import { restRoutes } from './routes.ts'

/** API versions that are accepted; the first is what a request without the header gets. */
export const apiVersions = ['2022-11-28', '2026-03-10'] as const
/** Largest JSON body. */
const largestBody = 1024 * 1024

const text = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value.join(', ') : value)

/** A defect of the emulator is answered 500 and reported; everything else says what is wrong with the request. */
const asRestError = (error: unknown, report: (message: string) => void): RestError => {
  if (error instanceof RestError) return error
  if (error instanceof Refusal) return new RestError(error.status, error.message, error.errors)
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500) {
    return new RestError(error.statusCode, error.statusCode === 400 ? 'Problems parsing JSON' : error.message)
  }
  report(`REST failed: ${error instanceof Error ? error.stack : 'unknown error'}`)
  return new RestError(500, 'Server Error')
}

const limitHeaders = (bucket: Bucket): Record<string, string> => ({
  'x-ratelimit-limit': String(bucket.limit),
  'x-ratelimit-remaining': String(bucket.remaining),
  'x-ratelimit-reset': String(bucket.reset),
  'x-ratelimit-used': String(Math.min(bucket.used, bucket.limit)),
  'x-ratelimit-resource': 'core',
})

/** Client credentials of an OAuth application are no actor; the routes that take them read the header themselves. */
const actorOf = (context: Context, route: RestRoute, header: string | undefined): Actor => {
  if (route.needs === 'client credentials' && header !== undefined && basicCredentials(header)) return { kind: 'anonymous' }
  const authentication = authenticate(context.world, header, context.now())
  if (!authentication.ok) throw new RestError(authentication.status, authentication.message)
  return authentication.actor
}

const checkVersion = (request: FastifyRequest): string => {
  const asked = text(request.headers['x-github-api-version'])
  const version = asked === undefined ? apiVersions[0] : apiVersions.find(one => one === asked)
  if (version === undefined)
    throw new RestError(400, `API version '${asked?.slice(0, 40)}' is not supported. Supported: ${apiVersions.join(', ')}`)
  return version
}

const takeFault = (context: Context, method: string, path: string): void => {
  const fault = context.faults.take(
    'rest-status',
    one => (one.method === '' || one.method === method) && path.startsWith(one.path),
  )
  if (fault) throw new RestError(fault.status, 'Server Error', [], fault.headers)
}

const paramsOf = (route: RestRoute, request: FastifyRequest): Record<string, string> => {
  const params = { ...(request.params as Record<string, string>) }
  const greedyName = route.greedy ? /\{(\w+)\}$/.exec(route.path)?.[1] : undefined
  if (greedyName !== undefined) params[greedyName] = params['*'] ?? ''
  return params
}

const answer = async (context: Context, limiter: RateLimiter, route: RestRoute, request: FastifyRequest, reply: FastifyReply) => {
  const path = request.url.slice(context.settings.restPrefix.length).split('?')[0] ?? ''
  void reply.header('x-github-api-version-selected', checkVersion(request))
  if (text(request.headers['user-agent']) === undefined) {
    throw new RestError(403, 'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.')
  }
  takeFault(context, request.method, path)
  const actor = actorOf(context, route, request.headers.authorization)
  const free = path === '/rate_limit'
  const bucket = limiter.spend(actor, request.ip, free ? 0 : 1)
  void reply.headers(limitHeaders(bucket))
  if (context.settings.rateLimit.enforced && bucket.used > bucket.limit) {
    throw new RestError(
      403,
      'API rate limit exceeded. (But here is the good news: authenticated requests get a higher rate limit.)',
    )
  }
  if (route.needs.includes('=')) void reply.header('x-accepted-github-permissions', route.needs)
  const result = await route.handle({
    context,
    actor,
    params: paramsOf(route, request),
    query: new URLSearchParams(request.url.split('?')[1] ?? ''),
    headers: request.headers,
    body: request.body,
    paging: { url: context.links.api(path), query: new URLSearchParams(request.url.split('?')[1] ?? '') },
  })
  await context.store.durable()
  if (result.status === 200 && request.method !== 'DELETE') return withETag(limiter, actor, request, reply, result)
  return send(reply, result)
}

const send = (reply: FastifyReply, { status, body, headers }: RestAnswer): FastifyReply => {
  void reply.code(status).headers({ ...headers })
  return body === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(JSON.stringify(body))
}

/** A request that finds nothing changed costs nothing. */
const withETag = (
  limiter: RateLimiter,
  actor: Actor,
  request: FastifyRequest,
  reply: FastifyReply,
  result: RestAnswer,
): FastifyReply => {
  const etag = `W/"${createHash('sha256').update(JSON.stringify(result.body)).digest('hex')}"`
  void reply
    .header('etag', etag)
    .header('cache-control', 'private, max-age=60, s-maxage=60')
    .header('vary', 'Accept, Authorization')
  const wanted = text(request.headers['if-none-match'])
  if (request.method !== 'GET' || !wanted?.split(',').some(one => one.trim() === etag || `W/${one.trim()}` === etag))
    return send(reply, result)
  void reply.headers(limitHeaders(limiter.spend(actor, request.ip, -1)))
  return reply.code(304).send()
}

/** The Fastify form of an OpenAPI path. */
export const fastifyPath = (route: RestRoute): string => {
  const path = route.greedy ? route.path.replace(/\{\w+\}$/, '*') : route.path
  return path.replace(/\{(\w+)\}/g, ':$1')
}

/** Registers the whole REST surface on an instance that already carries the REST prefix. */
export const registerRest = (server: FastifyInstance, context: Context): void => {
  const limiter = createRateLimiter(context.settings.rateLimit, context.now)
  server.addHook('onRequest', async (_request, reply) => {
    void reply.headers({
      'x-github-request-id': randomUUID().toUpperCase(),
      'x-github-media-type': 'github.v3; format=json',
      ...(context.settings.flavour === 'enterprise-server' ? { 'x-github-enterprise-version': '3.19.0' } : {}),
    })
  })
  const parser = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  // GitHub reads JSON whatever the content type says; an empty body is no body.
  server.addContentTypeParser('*', { parseAs: 'string', bodyLimit: largestBody }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parser(request, String(body), done)
  })
  server.setErrorHandler((error, _request, reply) => {
    const shown = asRestError(error, context.report)
    return send(reply, { status: shown.status, body: errorBody(shown), headers: shown.headers })
  })
  server.setNotFoundHandler((_request, reply) => send(reply, { status: 404, body: errorBody(new RestError(404, 'Not Found')) }))
  for (const route of restRoutes({ limiter })) {
    server.route({
      method: route.method,
      url: fastifyPath(route),
      handler: (request, reply) => answer(context, limiter, route, request, reply),
    })
  }
}
