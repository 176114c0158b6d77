// `/login` and `/login/callback`: authorization code with PKCE S256 and a one-use state that is bound to this browser. Order of
// the callback: same browser → within the limit → use the state up, whatever follows → code → exchange by the broker itself →
// person → session. A request that no sign-in of this browser precedes costs no row, no request to GitHub and nobody's limit.
// Source: RFC 9700,
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
import { createHash, randomBytes } from 'node:crypto'
import { type Static, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { userSubject } from '../../../api/names.ts'
import type { UserTokens } from '../../../github/index.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { handleText } from '../field-schemas.ts'
import { minuteLimit, requireWithinLimit, unlimited } from '../limits.ts'
import { safeReturnPath } from './return-path.ts'
import { createSignInCookies, type SignInCookies } from './sign-in-cookie.ts'

/** A used state is remembered for longer than it could be used. */
const usedStateMilliseconds = 20 * 60_000
const callbackPath = '/login/callback'

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
  const { sessions, people, github, issuer, settings, knownBrowsers, log } = context
  const redirectUri = new URL(callbackPath, settings.publicUrl).href
  const signIns = createSignInCookies(context.issuerKeys.cookieKey, context.clock)
  const limit = server.createRateLimit(minuteLimit(60))

  // Not limited: it neither reads nor writes anything, and what it makes is worth nothing without GitHub.
  server.get('/login', { schema: { querystring: beginning }, config: unlimited }, async (request, reply) => {
    const returnTo = safeReturnPath(request.query.return_to)
    const codeVerifier = randomBytes(32).toString('base64url')
    const state = signIns.begin(request, reply, { codeVerifier, returnTo })
    const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url')
    return reply.redirect(github.oauth().authorizeUrl({ state, codeChallenge, redirectUri }), 303)
  })

  const counted = { onResponse: countSignIns(context) }
  server.get(callbackPath, { schema: { querystring: answer }, config: unlimited, ...counted }, async (request, reply) => {
    const { state } = request.query
    const { codeVerifier, returnTo } = requireSignIn(signIns, { request, reply, state })
    await requireWithinLimit(limit, request)
    await useState(context, state)
    const code = requireCode(request.query)
    const { host } = github.app().endpoints
    const tokens = await exchange(context, host, { code, codeVerifier, redirectUri })
    const person = await people.signedIn(host, tokens)
    const subject = userSubject(host, person.userId)
    await recordSignIn(context, subject, person.login)
    await issuer.forgetOthers(request.raw, reply.raw, subject)
    await sessions.begin(request, reply, { host, ...person })
    knownBrowsers.remember(reply, subject)
    log.info({ subject }, 'signed in')
    return reply.redirect(returnTo, 303)
  })
}

/** A return from GitHub that ends in a redirect signed somebody in; a fault of ours is no refusal. */
function countSignIns({ metrics }: BrokerContext) {
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (reply.statusCode < 400) metrics.signIn('signed_in')
    else if (reply.statusCode < 500) metrics.signIn('refused')
  }
}

type Answer = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly state: string | undefined }

/** The sign-in that this very browser began, whose cookie is cleared. Throws `invalid_request` when there is none. */
function requireSignIn(signIns: SignInCookies, { request, reply, state }: Answer) {
  if (state === undefined) throw refused('the answer of GitHub has no state')
  const signIn = signIns.take(request, reply, state)
  if (signIn === undefined) throw refused('this sign-in was used already, has expired or began in another browser')
  return signIn
}

/** Uses the state up. Rejects with `invalid_request` when it was used before, with a copy of the cookie. */
async function useState({ store, clock }: BrokerContext, state = ''): Promise<void> {
  const until = new Date(clock.now().getTime() + usedStateMilliseconds)
  if (!(await store.sessions.useOnce(state, until))) throw refused('this sign-in was used already')
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
