// Mounts the issuer: passes its requests on unread, and puts our sign-in and our consent page between a program and its token. Only a person who
// is signed in may type a code, so that guessing codes costs an identity and can be locked.
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { issuerPaths, issuerSessionCookie } from '../../../identity/oidc/issuer-configuration.ts'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { consentPage } from '../../pages/issuer.ts'
import type { Person } from '../../sessions.ts'
import { csrfText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { type AttemptLock, createAttemptLock } from './attempt-lock.ts'

export async function registerOidc(server: WebServer, context: BrokerContext): Promise<void> {
  registerConsent(server, context)
  await server.register(async (scope: FastifyInstance) => {
    // The library reads the body itself, with its own limit.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, next) => next(null))
    registerProtocol(scope, context)
    registerDevice(scope, context)
  })
}

function registerConsent(server: WebServer, { issuer, sessions }: BrokerContext): void {
  const path = `${issuerPaths.interaction}/:id`
  const params = Type.Object({ id: Type.String({ pattern: '^[A-Za-z0-9_-]{10,100}$' }) })

  server.get(path, { schema: { params } }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { redirectHost } = await issuer.pending(request.raw, reply.raw)
    return sendPage(reply, consentPage(person, request.url, redirectHost))
  })

  const body = Type.Object({ csrf: csrfText, decision: Type.Union([Type.Literal('allow'), Type.Literal('refuse')]) })
  server.post(path, { schema: { params, body } }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const next =
      request.body.decision === 'allow'
        ? await issuer.approve(request.raw, reply.raw, person.subject)
        : await issuer.refuse(request.raw, reply.raw)
    return reply.redirect(next, 303)
  })
}

function registerProtocol(scope: FastifyInstance, context: BrokerContext): void {
  const passOn = passedTo(context)
  const at = (max: number) => ({ config: perMinute(max) })
  // An API server reads both again whenever it meets a key id that it does not know.
  scope.get(issuerPaths.discovery, at(600), passOn)
  scope.get(issuerPaths.keys, at(600), passOn)
  scope.get(issuerPaths.authorization, at(120), passOn)
  scope.get(`${issuerPaths.authorization}/:id`, at(120), passOn)
  scope.post(issuerPaths.token, at(300), passOn)
  scope.post(issuerPaths.revocation, at(60), passOn)
  scope.post(issuerPaths.deviceAuthorization, at(30), passOn)
  scope.get(issuerPaths.endSession, at(60), passOn)
  scope.get(`${issuerPaths.endSession}/success`, at(60), passOn)
  scope.post(`${issuerPaths.endSession}/confirm`, at(60), passOn)
  scope.get(`${issuerPaths.device}/:id`, at(60), passOn)
}

/** The page on which a person types the code that their computer shows (RFC 8628 §3.3). */
function registerDevice(scope: FastifyInstance, context: BrokerContext): void {
  const { sessions, clock } = context
  const passOn = passedTo(context)
  const lock = createAttemptLock({ clock, most: 10, windowMilliseconds: 15 * 60_000 })

  scope.get(issuerPaths.device, { config: perMinute(60) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person !== undefined) await passOn(request, reply)
  })

  scope.post(issuerPaths.device, { config: perMinute(30) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return
    requireDevicePage(request)
    countAttempt(lock, person)
    await passOn(request, reply)
  })
}

/** Stops: a form that was not served to this browser, which cannot hold the secret of the form. */
function requireDevicePage(request: FastifyRequest): void {
  if (request.cookies[issuerSessionCookie] === undefined)
    throw new AppError('invalid_request', `open ${issuerPaths.device} first, then enter the code`)
}

function countAttempt(lock: AttemptLock, { subject }: Person): void {
  if (lock.tryAgain(subject)) return
  throw new AppError('too_many_requests', 'too many codes were tried: wait 15 minutes', { retryAfterSeconds: 900 })
}

/** The library answers by itself, under the headers that our server sets on every answer. */
function passedTo({ issuer }: BrokerContext) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
    await issuer.handle(request.raw, reply.raw)
  }
}
