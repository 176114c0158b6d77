// `/login/callback`: GitHub's answer to a sign-in. In this order: take the state (so that it is used up whatever follows) → same browser →
// code → exchange by the broker itself → person → session.
import { type Static, Type } from '@fastify/type-provider-typebox'
import { userSubject } from '../../../api/names.ts'
import type { UserTokens } from '../../../github/index.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerSettings } from '../../config.ts'
import type { BrokerContext } from '../../context.ts'
import { handleText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { refusedSignIn, takeSignIn } from './sign-in-state.ts'

const path = '/login/callback'

/** The address of this route, as it is registered with the GitHub App. */
export function redirectUri({ publicUrl }: Pick<BrokerSettings, 'publicUrl'>): string {
  return new URL(path, publicUrl).href
}

const answer = Type.Object({
  state: Type.Optional(handleText),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 512, pattern: '^[A-Za-z0-9_.-]+$' })),
  error: Type.Optional(Type.String({ maxLength: 200 })),
  error_description: Type.Optional(Type.String({ maxLength: 2000 })),
  error_uri: Type.Optional(Type.String({ maxLength: 2000 })),
  iss: Type.Optional(Type.String({ maxLength: 500 })),
})

export function registerCallback(server: WebServer, context: BrokerContext): void {
  const { sessions, people, github, log } = context

  server.get(path, { schema: { querystring: answer }, config: perMinute(60) }, async (request, reply) => {
    const { codeVerifier, returnTo } = await takeSignIn(context, request, request.query.state)
    const code = requireCode(request.query)
    const { host } = github.app().endpoints
    const tokens = await exchange(context, { host, code, codeVerifier })
    const person = await people.signedIn(host, tokens)
    const subject = userSubject(host, person.userId)
    await recordSignIn(context, subject, person.login)
    await sessions.begin(request, reply, { host, ...person })
    log.info({ subject }, 'signed in')
    return reply.redirect(returnTo, 303)
  })
}

function requireCode({ code, error }: Static<typeof answer>): string {
  if (error !== undefined) throw new AppError('forbidden', 'GitHub did not sign you in: you refused, or the App is blocked')
  if (code === undefined) throw refusedSignIn('the answer of GitHub has no code')
  return code
}

type Answer = { readonly host: string; readonly code: string; readonly codeVerifier: string }

async function exchange(context: BrokerContext, { host, code, codeVerifier }: Answer): Promise<UserTokens> {
  const { github, settings, store } = context
  try {
    return await github.oauth().exchange({ code, codeVerifier, redirectUri: redirectUri(settings) })
  } catch (error) {
    if (!isAppError(error, 'unauthenticated')) throw error
    await store.audit.append({
      action: 'session.refused',
      actor: 'sekisho:broker',
      object: 'session',
      outcome: 'denied',
      reason: 'GitHub refused the code',
      details: { host },
    })
    throw refusedSignIn('GitHub refused the code')
  }
}

async function recordSignIn({ store }: BrokerContext, subject: string, login: string): Promise<void> {
  await store.audit.append({
    action: 'session.signed-in',
    actor: subject,
    object: 'session',
    outcome: 'allowed',
    reason: 'signed in with GitHub',
    details: { login },
  })
}
