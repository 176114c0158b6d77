// The REST API as a part of the server: its routes, its parser, its errors. respond.ts handles a single request.
// https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../state/refusal.ts'
import type { RestContext } from './context.ts'
import { errorBody, RestError } from './protocol/answer.ts'
import { createRateLimiter } from './protocol/rate-limit.ts'
import { createSecondaryLimiter } from './protocol/secondary-limit.ts'
import { respond, send } from './respond.ts'
import { restRoutes } from './routes.ts'

/** The largest JSON body. */
const largestBody = 1024 * 1024

/** A defect of the emulator is answered with 500 and reported; other errors say what is wrong with the request. */
function asRestError(error: unknown, report: (message: string) => void): RestError {
  if (error instanceof RestError) return error
  if (error instanceof Refusal) return new RestError(error.status, error.message, { errors: error.errors })
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500) {
    return new RestError(error.statusCode, error.statusCode === 400 ? 'Problems parsing JSON' : error.message)
  }
  report(`REST failed: ${error instanceof Error ? error.stack : 'unknown error'}`)
  return new RestError(500, 'Server Error')
}

/** An OpenAPI path in Fastify's notation. */
export function fastifyPath(path: string, greedy = false): string {
  return (greedy ? path.replace(/\{\w+\}$/, '*') : path).replace(/\{(\w+)\}/g, ':$1')
}

/** What every path of the API has in common: headers, the JSON parser, errors as JSON. */
function frame(server: FastifyInstance, context: RestContext): void {
  server.addHook('onRequest', async (_request, reply) => {
    void reply.headers({
      'x-github-request-id': randomUUID().toUpperCase(),
      'x-github-media-type': 'github.v3; format=json',
      ...(context.links.flavour === 'enterprise-server' ? { 'x-github-enterprise-version': '3.19.0' } : {}),
    })
  })
  const parser = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  // GitHub reads JSON whatever the content type says; an empty body counts as absent.
  server.addContentTypeParser('*', { parseAs: 'string', bodyLimit: largestBody }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parser(request, String(body), done)
  })
  server.setErrorHandler((error, _request, reply) => {
    const shown = asRestError(error, context.report)
    return send(reply, { status: shown.status, body: errorBody(shown), headers: shown.headers })
  })
  server.setNotFoundHandler((_request, reply) => send(reply, { status: 404, body: errorBody(new RestError(404, 'Not Found')) }))
}

/** Registers the whole REST API on an instance that already has the REST prefix. */
export function registerRest(server: FastifyInstance, context: RestContext): void {
  const { rateLimit } = context.settings
  const limiter = createRateLimiter(rateLimit, context.now, context.state)
  const secondary = rateLimit.secondary && createSecondaryLimiter(rateLimit.secondary, context.now)
  frame(server, context)
  for (const route of restRoutes) {
    for (const path of route.byId === undefined ? [route.path] : [route.path, route.byId]) {
      server.route({
        method: route.method,
        url: fastifyPath(path, route.greedy),
        handler: (request, reply) => respond({ context, limiter, secondary }, route, request, reply),
      })
    }
  }
}
