// Mounts the issuer: passes its requests on unread, and puts our sign-in and our consent page between a program and its token. Only a person who
// is signed in may type a code, so that guessing codes costs an identity and can be locked.
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { issuerPaths, issuerSessionCookie } from '../../../identity/oidc/issuer-configuration.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { consentPage } from '../../pages/issuer.ts'
import type { Person } from '../../sessions.ts'
import { csrfText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { type AttemptLock, createAttemptLock } from './attempt-lock.ts'

/** The issuer's endpoints below `/oidc`, and the consent page. The issuer parses its own bodies. */
export async function registerOidc(server: WebServer, context: BrokerContext): Promise<void> {
  registerConsent(server, context)
  await server.register(scope => mountIssuer(scope, context))
}

function registerConsent(server: WebServer, context: BrokerContext): void {
  const { issuer, sessions } = context
  const path = `${issuerPaths.interaction}/:id`
  const params = Type.Object({ id: Type.String({ pattern: '^[A-Za-z0-9_-]{10,100}$' }) })

  server.get(path, { schema: { params } }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { redirectHost } = await issuer.pending(request.raw, reply.raw)
    const refusal = await roleRefusal(context, person)
    if (refusal !== undefined) return reply.redirect(await issuer.refuse(request.raw, reply.raw, refusal), 303)
    return sendPage(reply, consentPage(person, request.url, redirectHost))
  })

  const body = Type.Object({ csrf: csrfText, decision: Type.Union([Type.Literal('allow'), Type.Literal('refuse')]) })
  server.post(path, { schema: { params, body } }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const refusal = request.body.decision === 'allow' ? await roleRefusal(context, person) : 'the person refused'
    const next =
      refusal === undefined
        ? await issuer.approve(request.raw, reply.raw, person.subject)
        : await issuer.refuse(request.raw, reply.raw, refusal)
    return reply.redirect(next, 303)
  })
}

/** Why the person gets no token, for the program that asked: they learn it there, and not only when the token is refused. */
async function roleRefusal({ people }: BrokerContext, { subject }: Person): Promise<string | undefined> {
  try {
    if ((await people.claims(subject)) !== undefined) return undefined
  } catch (error) {
    if (isAppError(error, 'forbidden')) return error.message
    throw error
  }
  throw new AppError('unauthenticated', 'your GitHub sign-in has ended: sign in again')
}

/** The library answers by itself, under the headers that our server sets on every answer. It reads the body itself, with its own limit. */
function mountIssuer(scope: FastifyInstance, { issuer, sessions, clock }: BrokerContext): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, next) => next(null))
  const passOn = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
    await issuer.handle(request.raw, reply.raw)
  }
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

  // On this page a person types the code that their computer shows (RFC 8628 §3.3).
  const lock = createAttemptLock({ clock, most: 10, windowMilliseconds: 15 * 60_000 })
  const device = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return
    if (request.method === 'POST') acceptAttempt(request, lock, person)
    await passOn(request, reply)
  }
  scope.get(issuerPaths.device, at(60), device)
  scope.post(issuerPaths.device, at(30), device)
  scope.get(`${issuerPaths.device}/:id`, at(60), passOn)
}

/** Stops: a form that was not served to this browser, and a person who guesses codes. */
function acceptAttempt(request: FastifyRequest, lock: AttemptLock, { subject }: Person): void {
  if (request.cookies[issuerSessionCookie] === undefined)
    throw new AppError('invalid_request', `open ${issuerPaths.device} first, then enter the code`)
  if (!lock.tryAgain(subject))
    throw new AppError('too_many_requests', 'too many codes were tried: wait 15 minutes', { retryAfterSeconds: 900 })
}
