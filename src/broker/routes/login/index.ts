// `/login` and `/login/callback`: sign-in with GitHub by authorization code with PKCE S256 and a one-use state that is bound to this browser.
// Order of the callback: take the state (so that it is used up whatever follows) → same browser → code → exchange by the broker itself →
// person → session.
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
import { handleText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { safeReturnPath } from './return-path.ts'

const stateLifeMilliseconds = 10 * 60_000
const callbackPath = '/login/callback'

/** What is remembered, sealed in the store, until GitHub answers. */
type SignIn = {
  readonly purpose: 'sign-in'
  /** The binding to the browser that began. */
  readonly browser: string
  /** RFC 7636. */
  readonly codeVerifier: string
  readonly returnTo: string
}

const beginning = Type.Object({ return_to: Type.Optional(Type.String({ maxLength: 2000 })) })
const answer = Type.Object({
  state: Type.Optional(handleText),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 512, pattern: '^[A-Za-z0-9_.-]+$' })),
  error: Type.Optional(Type.String({ maxLength: 200 })),
  error_description: Type.Optional(Type.String({ maxLength: 2000 })),
  error_uri: Type.Optional(Type.String({ maxLength: 2000 })),
  iss: Type.Optional(Type.String({ maxLength: 500 })),
})

/** `/login` and `/login/callback`: sign-in with GitHub (RFC 6749 §4.1, PKCE S256), bound to the browser by a one-use state. */
export function registerLogin(server: WebServer, context: BrokerContext): void {
  const { sessions, people, github, issuer, settings, log } = context
  const redirectUri = new URL(callbackPath, settings.publicUrl).href

  server.get('/login', { schema: { querystring: beginning }, config: perMinute(60) }, async (request, reply) => {
    const returnTo = safeReturnPath(request.query.return_to)
    const browser = sessions.bindBrowser(request, reply)
    const codeVerifier = randomBytes(32).toString('base64url')
    const state = await rememberSignIn(context, { purpose: 'sign-in', browser, codeVerifier, returnTo })
    const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url')
    return reply.redirect(github.oauth().authorizeUrl({ state, codeChallenge, redirectUri }), 303)
  })

  server.get(callbackPath, { schema: { querystring: answer }, config: perMinute(60) }, async (request, reply) => {
    const { codeVerifier, returnTo } = await takeSignIn(context, request, request.query.state)
    const code = requireCode(request.query)
    const { host } = github.app().endpoints
    const tokens = await exchange(context, host, { code, codeVerifier, redirectUri })
    const person = await people.signedIn(host, tokens)
    const subject = userSubject(host, person.userId)
    await recordSignIn(context, subject, person.login)
    await issuer.forgetOthers(request.raw, reply.raw, subject)
    await sessions.begin(request, reply, { host, ...person })
    log.info({ subject }, 'signed in')
    return reply.redirect(returnTo, 303)
  })
}

/** Resolves to the one-use state to send to GitHub. */
async function rememberSignIn({ store, clock }: BrokerContext, data: SignIn): Promise<string> {
  const expiresAt = new Date(clock.now().getTime() + stateLifeMilliseconds)
  return (await store.sessions.createLoginState({ data, expiresAt })).reveal()
}

/** Uses the state up. Rejects with `invalid_request` unless the sign-in began in this very browser and was not answered before. */
async function takeSignIn({ sessions, store }: BrokerContext, request: FastifyRequest, state: string | undefined) {
  if (state === undefined) throw refused('the answer of GitHub has no state')
  const signIn = await store.sessions.takeLoginState(state)
  if (!isSignIn(signIn)) throw refused('this sign-in was used already or has expired')
  if (!sessions.isBoundBrowser(request, signIn.browser)) throw refused('this sign-in began in another browser')
  return signIn
}

function isSignIn(value: JsonValue | undefined): value is SignIn {
  return typeof value === 'object' && value !== null && 'purpose' in value && value['purpose'] === 'sign-in'
}

function requireCode({ code, error }: Static<typeof answer>): string {
  if (error !== undefined) throw new AppError('forbidden', 'GitHub did not sign you in: you refused, or the App is blocked')
  if (code === undefined) throw refused('the answer of GitHub has no code')
  return code
}

type Exchange = { readonly code: string; readonly codeVerifier: string; readonly redirectUri: string }

async function exchange({ github, store }: BrokerContext, host: string, code: Exchange): Promise<UserTokens> {
  try {
    return await github.oauth().exchange(code)
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

function refused(message: string): AppError {
  return new AppError('invalid_request', `${message}: go back to the first page and sign in again`)
}
