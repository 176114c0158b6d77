// `/login`: sign-in with GitHub by authorization code with PKCE S256 and a one-use state that is bound to this browser.
// Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app , RFC 9700
import { createHash, randomBytes } from 'node:crypto'
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { perMinute } from '../limits.ts'
import { redirectUri, registerCallback } from './callback.ts'
import { safeReturnPath } from './return-path.ts'
import { rememberSignIn } from './sign-in-state.ts'

export function registerLogin(server: WebServer, context: BrokerContext): void {
  const { github, settings } = context
  const query = Type.Object({ return_to: Type.Optional(Type.String({ maxLength: 2000 })) })

  server.get('/login', { schema: { querystring: query }, config: perMinute(60) }, async (request, reply) => {
    const returnTo = safeReturnPath(request.query.return_to)
    const codeVerifier = randomBytes(32).toString('base64url')
    const state = await rememberSignIn(context, request, reply, { codeVerifier, returnTo })
    const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url')
    return reply.redirect(github.oauth().authorizeUrl({ state, codeChallenge, redirectUri: redirectUri(settings) }), 303)
  })

  registerCallback(server, context)
}
