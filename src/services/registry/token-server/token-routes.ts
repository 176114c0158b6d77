// The token server of the image registry: GET with Basic authentication and POST with an OAuth 2 form, both at /token. It
// checks a credential in memory, grants of what is asked for what its holder may do, and signs. It asks neither the database
// nor the API server.
// Source: https://distribution.github.io/distribution/spec/auth/token/ and /oauth/
import formbody from '@fastify/formbody'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../../../lib/clock.ts'
import { createKeyedBuckets } from '../../../lib/limits/keyed-buckets.ts'
import type { Log } from '../../../lib/log.ts'
import type { WebServer } from '../../../web/server.ts'
import type { Holder, RegistryCredentials } from '../credentials.ts'
import { parseScopes, type RepositoryAccess } from '../repository.ts'
import { allowedAccess, type RegistryLayout } from './access.ts'
import { createRefusalLog, type TokenResult } from './metrics.ts'
import type { TokenIssuer } from './token-issuer.ts'

export type TokenRouteDeps = {
  readonly credentials: Pick<RegistryCredentials, 'verify'>
  readonly layout: RegistryLayout
  readonly service: string
  readonly issue: TokenIssuer
  readonly count: (result: TokenResult) => void
  readonly clock: Clock
  readonly log: Log
}

/** 3,000 a minute; one build and its rollout ask about 40 times. */
const ofHolder = { burst: 3000, millisecondsPerToken: 20 }
/**
 * 60 a minute without a valid credential, per client address. A valid credential is never refused because of others' failures.
 */
const failuresOfAddress = { burst: 60, millisecondsPerToken: 1000 }

const text = (maxLength: number) => Type.String({ maxLength })
const scopes = Type.Optional(Type.Union([text(4000), Type.Array(text(400), { maxItems: 20 })]))
const query = Type.Object({ service: Type.Optional(text(255)), scope: scopes })
const form = Type.Object({
  grant_type: text(50),
  service: Type.Optional(text(255)),
  scope: scopes,
  username: Type.Optional(text(255)),
  password: Type.Optional(text(255)),
})

type Asked = {
  readonly address: string
  readonly username: string
  readonly password: string
  readonly service: string | undefined
  readonly scope: string | string[] | undefined
}

type Outcome =
  | { readonly kind: 'issued'; readonly body: object }
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 429; readonly code: string; readonly message: string }

const holderName = (holder: Holder): string =>
  holder.purpose === 'platform' ? holder.purpose : `${holder.purpose}.${holder.namespace}`

function refused(status: 400 | 401 | 429, code: string, message: string): Outcome {
  return { kind: 'refused', status, code, message }
}

// Memory (limits of registry tokens): holder of a credential, or client address without one → token bucket
//   life: the process
//   bound: 10,000 keys of each, the one used longest ago forgotten first
//   freshness: none is needed: buckets refill by time
//   replicas: each counts: two allow twice as much; each signs with a key of its own, which the shared authority certifies
/** Decides about one request. */
function createTokenDecision(deps: TokenRouteDeps): (asked: Asked) => Promise<Outcome> {
  const { credentials, layout, issue, count, clock } = deps
  const report = createRefusalLog(deps)
  const requests = createKeyedBuckets(ofHolder, clock)
  const failures = createKeyedBuckets(failuresOfAddress, clock)

  const limited = (): Outcome => {
    count('limited')
    return refused(429, 'TOOMANYREQUESTS', 'too many requests: try again in a minute')
  }
  return async ({ address, username, password, service, scope }) => {
    const holder = credentials.verify(username, password)
    if (holder === undefined) {
      if (failures.take(address) > 0) return limited()
      count('refused')
      report({ kind: 'credential', client: address, detail: username })
      return refused(401, 'UNAUTHORIZED', 'the registry credential is missing, wrong or no longer valid')
    }
    const name = holderName(holder)
    if (requests.take(name) > 0) return limited()
    if (service !== undefined && service !== deps.service) return refused(400, 'UNSUPPORTED', 'service: this is another registry')
    const wanted = [scope ?? []].flat()
    const asked = parseScopes(wanted)
    const access = allowedAccess(holder, asked, layout)
    const complete = isComplete(wanted, access)
    count(complete ? 'issued' : 'narrowed')
    if (!complete) report({ kind: 'access', client: name, detail: wanted.join(' ') })
    const { token, expiresInSeconds, issuedAt } = await issue(name, access)
    const body = { token, access_token: token, expires_in: expiresInSeconds, issued_at: issuedAt.toISOString() }
    return { kind: 'issued', body }
  }
}

/** Whether every scope that was written was granted in full. */
function isComplete(wanted: readonly string[], access: readonly RepositoryAccess[]): boolean {
  const written = wanted.flatMap(parameter => parameter.split(' ')).filter(scope => scope !== '')
  const granted = access.reduce((sum, { actions }) => sum + actions.length, 0)
  const actions = written.reduce((sum, scope) => sum + new Set(scope.slice(scope.lastIndexOf(':') + 1).split(',')).size, 0)
  return granted === actions
}

/** RFC 7617; the separator is the first colon. */
function basicOf(header: string | undefined): { readonly username: string; readonly password: string } {
  const encoded = /^Basic ([\w+/=-]{1,1000})$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return { username: '', password: '' }
  const decoded = Buffer.from(encoded, 'base64').toString()
  const separator = decoded.indexOf(':')
  return separator < 0
    ? { username: decoded, password: '' }
    : { username: decoded.slice(0, separator), password: decoded.slice(separator + 1) }
}

function answer(reply: FastifyReply, outcome: Outcome): FastifyReply {
  reply.header('cache-control', 'no-store')
  if (outcome.kind === 'issued') return reply.send(outcome.body)
  const { status, code, message } = outcome
  if (status === 401) reply.header('www-authenticate', 'Basic realm="sekisho"')
  if (status === 429) reply.header('retry-after', '60')
  // The form of the registry's own errors, which its clients print.
  return reply.code(status).send({ errors: [{ code, message }] })
}

/** A plugin for a server that builds, kpack and the nodes reach. */
export function tokenRoutes(deps: TokenRouteDeps): FastifyPluginAsync {
  return async instance => {
    const server = instance as unknown as WebServer
    const decide = createTokenDecision(deps)
    await server.register(formbody, { bodyLimit: 8192 })

    server.get('/token', { schema: { querystring: query } }, async (request, reply) =>
      answer(
        reply,
        await decide({
          address: request.ip,
          ...basicOf(request.headers.authorization),
          service: request.query.service,
          scope: request.query.scope,
        }),
      ),
    )

    server.post('/token', { bodyLimit: 8192, schema: { body: form } }, async (request, reply) => {
      const { grant_type: grantType, username = '', password = '', service, scope } = request.body
      if (grantType !== 'password') return answer(reply, refused(400, 'UNSUPPORTED', 'grant_type: only password is supported'))
      return answer(reply, await decide({ address: request.ip, username, password, service, scope }))
    })
  }
}
