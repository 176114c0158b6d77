// Mounts the issuer: passes its requests on unread, and puts our sign-in and our consent page between a program and its token.
// Only a person who is signed in may type a code, so that guessing codes costs an identity and can be locked.
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { issuerPaths, issuerSessionCookie } from '../../../identity/oidc/issuer-configuration.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import { clientAddress } from '../../../web/clients/client-key.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { consentPage } from '../../pages/issuer.ts'
import { type Person, sessionCookie } from '../../sessions.ts'
import { csrfText } from '../field-schemas.ts'
import { minuteLimit, perMinute, requireWithinLimit, unlimited } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { type AttemptLock, createAttemptLock } from './attempt-lock.ts'
import { createTokenClient } from './token-client.ts'

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
async function roleRefusal({ tokenClaims }: BrokerContext, { subject }: Person): Promise<string | undefined> {
  try {
    if ((await tokenClaims(subject)) !== undefined) return undefined
  } catch (error) {
    if (isAppError(error, 'forbidden')) return error.message
    throw error
  }
  throw new AppError('unauthenticated', 'your GitHub sign-in has ended: sign in again')
}

/**
 * The library answers by itself, under the headers that our server sets on every answer. It reads the body itself, with its own
 * limit.
 */
function mountIssuer(scope: FastifyInstance, { issuer, issuedHandles, sessions, store }: BrokerContext): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, next) => next(null))
  const passOn = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
    await issuer.handle(request.raw, reply.raw, clientAddress(request))
  }
  const at = (max: number) => ({ config: perMinute(max) })
  const tokenClient = createTokenClient(issuedHandles)
  // API servers read both, again whenever they meet a key id that they do not know. Both are answered from memory.
  scope.get(issuerPaths.discovery, { config: unlimited }, passOn)
  scope.get(issuerPaths.keys, { config: unlimited }, passOn)
  scope.get(`${issuerPaths.authorization}/:id`, at(120), passOn)
  scope.post(issuerPaths.token, { config: perMinute(60, tokenClient) }, passOn)
  scope.post(issuerPaths.revocation, { config: perMinute(30, tokenClient) }, passOn)
  scope.post(issuerPaths.deviceAuthorization, at(30), passOn)
  scope.get(issuerPaths.endSession, at(60), passOn)
  scope.get(`${issuerPaths.endSession}/success`, at(60), passOn)
  scope.post(`${issuerPaths.endSession}/confirm`, at(60), passOn)

  // The issuer makes rows for whoever asks. So only people who are signed in reach it, and each counts for themselves. A
  // program that asks not to show a page gets the answer of the protocol (OpenID Connect Core §3.1.2.6, login_required).
  const limit = scope.createRateLimit(minuteLimit(120))
  const person = async (request: FastifyRequest, reply: FastifyReply): Promise<Person | undefined> => {
    // Without the cookie nothing is read, and the browser is only sent to sign in.
    if (request.cookies[sessionCookie] !== undefined) await requireWithinLimit(limit, request)
    return personOrSignIn(sessions, request, reply)
  }
  scope.get<{ Querystring: { prompt?: string } }>(issuerPaths.authorization, { config: unlimited }, async (request, reply) => {
    if (request.query.prompt === 'none') await requireWithinLimit(limit, request)
    else if ((await person(request, reply)) === undefined) return
    await passOn(request, reply)
  })

  // On this page a person types the code that their computer shows (RFC 8628 §3.3).
  const lock = createAttemptLock({ attempts: store.attempts, what: 'user-code', most: 10, windowMilliseconds: 15 * 60_000 })
  const device = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const found = await person(request, reply)
    if (found === undefined) return
    if (request.method === 'POST') await acceptAttempt(request, lock, found)
    await passOn(request, reply)
  }
  scope.get(issuerPaths.device, { config: unlimited }, device)
  scope.post(issuerPaths.device, { config: unlimited }, device)
  scope.get(`${issuerPaths.device}/:id`, at(60), passOn)
}

/** Stops: a form that was not served to this browser, and a person who guesses codes. */
async function acceptAttempt(request: FastifyRequest, lock: AttemptLock, { subject }: Person): Promise<void> {
  if (request.cookies[issuerSessionCookie] === undefined)
    throw new AppError('invalid_request', `open ${issuerPaths.device} first, then enter the code`)
  if (!(await lock.tryAgain(subject)))
    throw new AppError('too_many_requests', 'too many codes were tried: wait 15 minutes', { retryAfterSeconds: 900 })
}
