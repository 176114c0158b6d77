// Handles one REST request around its route: version, faults, credentials, limits, headers, conditional responses. It never
// knows what a route does. https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api
import type { FastifyReply, FastifyRequest } from 'fastify'
import { targetOf } from '../faults/target.ts'
import type { Actor } from '../state/access.ts'
import { authenticate, basicCredentials } from '../tokens/authenticate.ts'
import type { RestContext } from './context.ts'
import { type RestAnswer, RestError } from './protocol/answer.ts'
import { conditionalHeaders, notModified } from './protocol/conditional.ts'
import { primaryLimitError, secondaryLimitError } from './protocol/limit-errors.ts'
import { type Bucket, callerOf, type RateLimiter } from './protocol/rate-limit.ts'
import { restFault } from './protocol/rest-faults.ts'
import type { SecondaryLimiter } from './protocol/secondary-limit.ts'
import type { RestRoute } from './route.ts'

export type RespondDeps = {
  readonly context: RestContext
  readonly limiter: RateLimiter
  /** Absent: bursts are not limited. */
  readonly secondary: SecondaryLimiter | undefined
}

/** The accepted API versions; the first one is used for a request without the header. */
export const apiVersions = ['2022-11-28', '2026-03-10'] as const

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

function limitHeaders(bucket: Bucket): Record<string, string> {
  return {
    'x-ratelimit-limit': String(bucket.limit),
    'x-ratelimit-remaining': String(bucket.remaining),
    'x-ratelimit-reset': String(bucket.reset),
    'x-ratelimit-used': String(Math.min(bucket.used, bucket.limit)),
    'x-ratelimit-resource': 'core',
  }
}

function versionOf(request: FastifyRequest): string {
  const asked = text(request.headers['x-github-api-version'])
  const version = asked === undefined ? apiVersions[0] : apiVersions.find(one => one === asked)
  if (version === undefined)
    throw new RestError(400, `API version '${asked?.slice(0, 40)}' is not supported. Supported: ${apiVersions.join(', ')}`)
  return version
}

/** Client credentials of an OAuth application are not an actor; the routes that accept them read the header themselves. */
function actorOf(context: RestContext, route: RestRoute, header: string | undefined): Actor {
  if (route.needs === 'client credentials' && header !== undefined && basicCredentials(header)) return { kind: 'anonymous' }
  const authentication = authenticate(context.state, header, context.now())
  if (!authentication.ok) throw new RestError(authentication.status, authentication.message)
  return authentication.actor
}

function paramsOf(route: RestRoute, request: FastifyRequest): Record<string, string> {
  const params = { ...(request.params as Record<string, string>) }
  const greedyName = route.greedy ? /\{(\w+)\}$/.exec(route.path)?.[1] : undefined
  if (greedyName !== undefined) params[greedyName] = params['*'] ?? ''
  return params
}

type Spending = {
  readonly actor: Actor
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly endpoint: string
}

/** Refuses the request when the hourly limit is enforced and used up. */
function requireBudget({ settings, now }: RestContext, bucket: Bucket, who: string): void {
  const { rateLimit } = settings
  if (!rateLimit.enforced || bucket.used <= bucket.limit) return
  throw primaryLimitError({
    status: rateLimit.status ?? 403,
    who,
    limit: bucket.limit,
    resetAt: bucket.reset,
    retryAfter: rateLimit.retryAfter ? Math.max(1, bucket.reset - Math.floor(now() / 1000)) : undefined,
  })
}

/** Counts the request in every active limit and refuses it when one is used up. Reading the limits themselves is free. */
function spend({ context, limiter, secondary }: RespondDeps, { actor, request, reply, endpoint }: Spending): Bucket {
  const free = endpoint === '/rate_limit'
  const bucket = limiter.spend(actor, request.ip, free ? 0 : 1)
  void reply.headers(limitHeaders(bucket))
  if (free) return bucket
  const who = callerOf(actor, request.ip)
  requireBudget(context, bucket, who)
  const refused = secondary?.enter(who, request.method, endpoint)
  if (refused) throw secondaryLimitError(refused.status, refused.retryAfter)
  reply.raw.once('close', () => secondary?.leave(who))
  return bucket
}

/** Sends an answer as it is. */
export function send(reply: FastifyReply, { status, body, headers }: RestAnswer): FastifyReply {
  void reply.code(status).headers({ ...headers })
  return body === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(JSON.stringify(body))
}

/** Handles one request with its route. */
export async function respond(
  deps: RespondDeps,
  route: RestRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, limiter } = deps
  const target = targetOf(request.method, request.url, context.settings.restPrefix)
  void reply.header('x-github-api-version-selected', versionOf(request))
  if (text(request.headers['user-agent']) === undefined) {
    throw new RestError(403, 'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.')
  }
  const fault = restFault(context.faults, target, request.headers.authorization, context.now())
  if (fault) throw fault
  const actor = actorOf(context, route, request.headers.authorization)
  const rateLimit = spend(deps, { actor, request, reply, endpoint: route.path })
  if (route.needs.includes('=')) void reply.header('x-accepted-github-permissions', route.needs)
  // Only classic tokens have scopes; the permissions of an App are not scopes.
  if (actor.kind === 'person') void reply.headers({ 'x-oauth-scopes': 'read:org, repo', 'x-accepted-oauth-scopes': '' })
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  const result = await route.handle({
    context,
    actor,
    params: paramsOf(route, request),
    query,
    headers: request.headers,
    body: request.body,
    paging: { url: context.links.api(target.path), query },
    rateLimit,
  })
  await context.store.durable()
  if (result.status !== 200 || (request.method !== 'GET' && request.method !== 'HEAD')) return send(reply, result)
  const conditional = conditionalHeaders(result)
  void reply.headers(conditional)
  if (!notModified(request.headers, conditional)) return send(reply, result)
  // A 304 costs nothing, except for callers without credentials.
  if (actor.kind !== 'anonymous') void reply.headers(limitHeaders(limiter.spend(actor, request.ip, -1)))
  return reply.code(304).send()
}
