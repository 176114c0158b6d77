// Mounts the issuer: hands its requests over unread, and puts our sign-in and our consent page between a program and its token.
// A code is typed only by somebody who is signed in, so that guessing codes costs an identity and can be locked.
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { issuerPaths, issuerSessionCookie } from '../../../identity/oidc/issuer-configuration.ts'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { consentPage } from '../../pages/issuer.ts'
import { csrfText } from '../field-schemas.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { createAttemptLock } from './attempt-lock.ts'

const interactionPath = `${issuerPaths.interaction}/:id`
const parameters = Type.Object({ id: Type.String({ pattern: '^[A-Za-z0-9_-]{10,100}$' }) })

export async function registerOidc(server: WebServer, context: BrokerContext): Promise<void> {
  const { issuer, sessions, clock } = context

  server.get(interactionPath, { schema: { params: parameters } }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const pending = await issuer.pending(request.raw, reply.raw)
    return sendPage(reply, consentPage(person, request.url, pending.redirectHost))
  })

  const decision = Type.Object({ csrf: csrfText, decision: Type.Union([Type.Literal('allow'), Type.Literal('refuse')]) })
  server.post(interactionPath, { schema: { params: parameters, body: decision } }, async (request, reply) => {
    const body = request.body
    const person = await sessions.requireForm(request, body.csrf)
    const next =
      body.decision === 'allow'
        ? await issuer.approve(request.raw, reply.raw, person.subject)
        : await issuer.refuse(request.raw, reply.raw)
    return reply.redirect(next, 303)
  })

  const mounted: FastifyPluginAsync = async scope => {
    // The library reads the body itself, with its own limit.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, next) => next(null))
    const handOver = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      reply.hijack()
      for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
      await issuer.handle(request.raw, reply.raw)
    }
    const perMinute = (max: number) => ({ config: { rateLimit: { max, timeWindow: 60_000 } } })
    scope.get(issuerPaths.discovery, perMinute(600), handOver)
    // Every API server asks for the keys whenever it meets a key id it does not know.
    scope.get(issuerPaths.keys, perMinute(600), handOver)
    scope.get(issuerPaths.authorization, perMinute(120), handOver)
    scope.get(`${issuerPaths.authorization}/:id`, perMinute(120), handOver)
    scope.post(issuerPaths.token, perMinute(300), handOver)
    scope.post(issuerPaths.revocation, perMinute(60), handOver)
    scope.post(issuerPaths.deviceAuthorization, perMinute(30), handOver)
    for (const path of [issuerPaths.endSession, `${issuerPaths.endSession}/success`]) scope.get(path, perMinute(60), handOver)
    scope.post(`${issuerPaths.endSession}/confirm`, perMinute(60), handOver)

    const lock = createAttemptLock({ clock, most: 10, windowMilliseconds: 15 * 60_000 })
    const signedInOnly = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const person = await personOrSignIn(sessions, request, reply)
      if (person === undefined) return
      // A form that was not served to this browser cannot hold its secret.
      if (request.method === 'POST' && request.cookies[issuerSessionCookie] === undefined)
        throw new AppError('invalid_request', `open ${issuerPaths.device} first`)
      if (request.method === 'POST' && !lock.tryAgain(person.subject))
        throw new AppError('too_many_requests', 'too many codes were tried: wait 15 minutes', { retryAfterSeconds: 900 })
      await handOver(request, reply)
    }
    scope.get(issuerPaths.device, perMinute(60), signedInOnly)
    scope.post(issuerPaths.device, perMinute(30), signedInOnly)
    scope.get(`${issuerPaths.device}/:id`, perMinute(60), handOver)
  }
  await server.register(mounted)
}
