// `/logout`: ends the session of this browser, here and at the issuer; `/logout/everywhere` ends all sign-ins of the person,
// also those of kubectl. Only by a form: a link or an image on another site cannot sign people out.
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { issuerSessionCookie } from '../../../identity/oidc/issuer-configuration.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { signedOutEverywherePage, signOutPage } from '../../pages/sign-out.ts'
import { endSignIns } from '../../people/end-sign-ins.ts'
import { cookieAttributes } from '../../sessions.ts'
import { csrfText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'

/** `/logout` and `/logout/everywhere`, by a form with the CSRF text only. */
export function registerLogout(server: WebServer, context: BrokerContext): void {
  const { sessions, store, issuer } = context
  const schema = { body: Type.Object({ csrf: csrfText }) }

  server.get('/logout', async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    return sendPage(reply, signOutPage(person))
  })

  const endHere = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await issuer.endSession(request.raw, reply.raw)
    await sessions.end(request, reply)
    for (const name of [issuerSessionCookie, `${issuerSessionCookie}.sig`]) reply.clearCookie(name, cookieAttributes)
  }

  server.post('/logout', { schema }, async (request, reply) => {
    await sessions.requireForm(request, request.body.csrf)
    await endHere(request, reply)
    return reply.redirect('/', 303)
  })

  server.post('/logout/everywhere', { schema, config: perMinute(30) }, async (request, reply) => {
    const { host, userId, subject } = await sessions.requireForm(request, request.body.csrf)
    await endSignIns({ store }, { host, userId, actor: subject, cause: 'signed out everywhere' })
    await endHere(request, reply)
    return sendPage(reply, signedOutEverywherePage())
  })
}
