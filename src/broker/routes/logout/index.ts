// `/logout`: ends the session of this browser, here and at the issuer. Only by a form: a link or an image on another site signs nobody out.
import { Type } from '@fastify/type-provider-typebox'
import { issuerSessionCookie } from '../../../identity/oidc/issuer-configuration.ts'
import { html } from '../../../web/html.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { formSecret, page } from '../../pages/layout.ts'
import { cookieAttributes } from '../../sessions.ts'
import { csrfText } from '../field-schemas.ts'
import { personOrSignIn, sendPage } from '../pages.ts'

/** `/logout`, by a form with the CSRF text only. */
export function registerLogout(server: WebServer, { sessions }: BrokerContext): void {
  server.get('/logout', async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const body = html`<form method="post" action="/logout">${formSecret(person)}<button>Sign out</button></form>`
    return sendPage(reply, page({ title: 'Sign out?', person, body }))
  })

  server.post('/logout', { schema: { body: Type.Object({ csrf: csrfText }) } }, async (request, reply) => {
    await sessions.requireForm(request, request.body.csrf)
    await sessions.end(request, reply)
    for (const name of [issuerSessionCookie, `${issuerSessionCookie}.sig`]) reply.clearCookie(name, cookieAttributes)
    return reply.redirect('/', 303)
  })
}
