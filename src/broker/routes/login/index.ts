// Sign-in with GitHub: authorization code with PKCE S256, a one-use state that only this browser can bring back, our own exchange.
// Order of the callback: take the state (so that it is used up whatever follows) → same browser → code → exchange → who → session.
// Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app , RFC 9700
import { createHash, randomBytes } from 'node:crypto'
import { type Static, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { userSubject } from '../../../api/names.ts'
import type { UserTokens } from '../../../github/index.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import type { JsonValue } from '../../../lib/json/canonical-json.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { safeReturnPath } from '../../return-path.ts'
import { handleText } from '../field-schemas.ts'

const stateLifeMilliseconds = 10 * 60_000
export const loginCallbackPath = '/login/callback'

type SignInState = {
  readonly purpose: 'sign-in'
  readonly browser: string
  readonly codeVerifier: string
  readonly returnTo: string
}

function isSignInState(value: JsonValue | undefined): value is SignInState {
  return typeof value === 'object' && value !== null && 'purpose' in value && value['purpose'] === 'sign-in'
}

function refused(message: string): AppError {
  return new AppError('invalid_request', `${message}: go back to the first page and sign in again`)
}

const callbackQuery = Type.Object({
  state: Type.Optional(handleText),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 512, pattern: '^[A-Za-z0-9_.-]+$' })),
  error: Type.Optional(Type.String({ maxLength: 200 })),
  error_description: Type.Optional(Type.String({ maxLength: 2000 })),
  error_uri: Type.Optional(Type.String({ maxLength: 2000 })),
  iss: Type.Optional(Type.String({ maxLength: 500 })),
})

export function registerLogin(server: WebServer, context: BrokerContext): void {
  const { sessions, people, store, github, clock, settings, log } = context
  const redirectUri = new URL(loginCallbackPath, settings.publicUrl).href
  const rateLimit = { max: 60, timeWindow: 60_000 }

  server.get(
    '/login',
    {
      schema: { querystring: Type.Object({ return_to: Type.Optional(Type.String({ maxLength: 2000 })) }) },
      config: { rateLimit },
    },
    async (request, reply) => {
      const returnTo = safeReturnPath(request.query.return_to)
      const codeVerifier = randomBytes(32).toString('base64url')
      const data: SignInState = { purpose: 'sign-in', browser: sessions.bindBrowser(request, reply), codeVerifier, returnTo }
      const expiresAt = new Date(clock.now().getTime() + stateLifeMilliseconds)
      const state = (await store.sessions.createLoginState({ data, expiresAt })).reveal()
      const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url')
      return reply.redirect(github.oauth().authorizeUrl({ state, codeChallenge, redirectUri }), 303)
    },
  )

  /** What GitHub's answer says, when it answers a sign-in that began in this very browser and was not answered before. */
  const answered = async (request: FastifyRequest, query: Static<typeof callbackQuery>) => {
    if (query.state === undefined) throw refused('the answer of GitHub carries no state')
    const state = await store.sessions.takeLoginState(query.state)
    if (!isSignInState(state)) throw refused('this sign-in was used already or has expired')
    if (!sessions.isBoundBrowser(request, state.browser)) throw refused('this sign-in began in another browser')
    if (query.error !== undefined)
      throw new AppError('forbidden', 'GitHub did not sign you in: you refused, or the App is blocked')
    if (query.code === undefined) throw refused('the answer of GitHub carries no code')
    return { code: query.code, codeVerifier: state.codeVerifier, returnTo: state.returnTo }
  }

  const exchanged = async (host: string, code: string, codeVerifier: string): Promise<UserTokens> => {
    try {
      return await github.oauth().exchange({ code, codeVerifier, redirectUri })
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
      throw refused('GitHub refused the code')
    }
  }

  server.get(loginCallbackPath, { schema: { querystring: callbackQuery }, config: { rateLimit } }, async (request, reply) => {
    const { code, codeVerifier, returnTo } = await answered(request, request.query)
    const { host } = github.app().endpoints
    const person = await people.signedIn(host, await exchanged(host, code, codeVerifier))
    const subject = userSubject(host, person.userId)
    await store.audit.append({
      action: 'session.signed-in',
      actor: subject,
      object: 'session',
      outcome: 'allowed',
      reason: 'signed in with GitHub',
      details: { login: person.login },
    })
    await sessions.begin(request, reply, { host, ...person })
    log.info({ subject }, 'signed in')
    return reply.redirect(returnTo, 303)
  })
}
