// The desk's routes for workloads inside the cluster: POST /v1/token (JSON) and POST /v1/git-credential (git's own protocol).
// Each request: identify → find the grant in the workload's own namespace → the desk → answer. A refusal says only that there
// is no token: the reason is in the grant's status and in the audit log, for those who may read them. Answers are never cached.
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { type Static, Type } from 'typebox'
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import type { DeliveredToken, TokenDesk } from '../token-desk.ts'
import { type CredentialRequest, credentialAnswer, readCredentialRequest, repositoryOfPath } from './git-credential.ts'
import type { IdentifyWorkload } from './workload.ts'
import { noToken, tokenFor } from './workload-token.ts'

export type TokenRouteDeps = {
  readonly desk: Pick<TokenDesk, 'request' | 'grantUid'>
  readonly identify: IdentifyWorkload
}

const grantName = Type.String({ minLength: 1, maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' })
const tokenBody = Type.Object({ grant: grantName }, { additionalProperties: false })
const credentialQuery = Type.Object({ grant: grantName }, { additionalProperties: false })
const bodyLimit = 8192

/** A plugin for a server that listens inside the cluster only. */
export function tokenRoutes(deps: TokenRouteDeps): FastifyPluginAsync {
  return async (server: FastifyInstance) => {
    server.addContentTypeParser('text/plain', { parseAs: 'string', bodyLimit }, (_request, body, done) => done(null, body))
    server.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })

    server.post<{ Body: Static<typeof tokenBody> }>('/v1/token', { bodyLimit, schema: { body: tokenBody } }, async request => {
      const workload = await deps.identify(bearerOf(request.headers.authorization), request.ip)
      const answer = await tokenFor(deps.desk, workload, request.body.grant)
      return {
        token: answer.token.reveal(),
        expiresAt: answer.expiresAt.toISOString(),
        repositories: answer.repositories,
        permissions: answer.permissions,
        api: answer.endpoints.api,
      }
    })

    server.post<{ Querystring: Static<typeof credentialQuery>; Body: unknown }>(
      '/v1/git-credential',
      { bodyLimit, schema: { querystring: credentialQuery } },
      async (request, reply) => {
        const workload = await deps.identify(bearerOf(request.headers.authorization), request.ip)
        if (typeof request.body !== 'string') throw new AppError('invalid_request', 'body must be text/plain, as git writes it')
        const requested = readCredentialRequest(request.body)
        const answer = await tokenFor(deps.desk, workload, request.query.grant)
        if (!isForThatRepository(requested, answer)) throw noToken()
        return reply.type('text/plain; charset=utf-8').send(credentialAnswer({ ...answer, token: answer.token.reveal() }))
      },
    )
  }
}

/** RFC 6750 §2.1. */
function bearerOf(header: string | undefined): SecretString {
  return new SecretString(/^Bearer ([\w.~+/=-]+)$/i.exec(header ?? '')?.[1] ?? '')
}

/**
 * git names the server it is about to contact: the credential is for the grant's own GitHub host and, when git names one,
 * repository.
 */
function isForThatRepository(requested: CredentialRequest, answer: DeliveredToken): boolean {
  const web = new URL(answer.endpoints.web)
  if (`${requested.protocol}:` !== web.protocol || requested.host !== web.host) return false
  if (requested.path === undefined) return true
  const wanted = repositoryOfPath(requested.path).toLowerCase()
  return answer.repositories.some(repository => repository.fullName.toLowerCase() === wanted)
}
