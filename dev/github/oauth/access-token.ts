// Owns: `POST /login/oauth/access_token`: code or refresh token in, user token out, with GitHub's error words. Errors are answered
// with status 200, as GitHub does; only an unknown client is 404.
// https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import type { App } from '../state/apps.ts'
import { appByClientId } from '../state/world.ts'
import { credentialKey } from '../tokens/formats.ts'
import { endUserToken, issueTokens, type TokenPair } from './issue.ts'

type Form = Readonly<Record<string, string>>
type Answer = Readonly<Record<string, string | number>>

const troubleshooting = 'https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/'
const failure = (error: string, description: string): Answer => ({
  error,
  error_description: description,
  error_uri: `${troubleshooting}#${error.replaceAll('_', '-')}`,
})

const badCode = failure('bad_verification_code', 'The code passed is incorrect or expired.')
const badRefresh = failure('bad_refresh_token', 'The refresh token passed is incorrect or expired.')

const equalText = (left: string, right: string): boolean => {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(left), hash(right))
}

const shown = (pair: TokenPair): Answer => ({
  access_token: pair.accessToken,
  expires_in: pair.expiresIn,
  refresh_token: pair.refreshToken,
  refresh_token_expires_in: pair.refreshTokenExpiresIn,
  scope: '',
  token_type: 'bearer',
})

/** S256 of PKCE (RFC 7636 §4.6); a code made without a challenge needs no verifier. */
const verifierFits = (challenge: string | null, verifier: string | undefined): boolean => {
  if (challenge === null) return true
  return verifier !== undefined && equalText(createHash('sha256').update(verifier).digest('base64url'), challenge)
}

const exchangeCode = (context: Context, app: App, form: Form): Answer => {
  const key = credentialKey(form['code'] ?? '')
  const code = context.world.credentials.codes[key]
  if (!code || code.appId !== app.id || code.expiresAt <= context.now()) return badCode
  const redirectUri = form['redirect_uri']
  if (redirectUri !== undefined && redirectUri !== '' && redirectUri !== code.redirectUri) {
    return failure('redirect_uri_mismatch', 'The redirect_uri MUST match the registered callback URL for this application.')
  }
  // One use, whatever comes of it: a verifier cannot be guessed against a code that is still good.
  context.store.change(world => {
    delete world.credentials.codes[key]
  })
  if (!verifierFits(code.codeChallenge, form['code_verifier'])) return badCode
  return shown(issueTokens(context, app, code.userId))
}

const refresh = (context: Context, app: App, form: Form): Answer => {
  const key = credentialKey(form['refresh_token'] ?? '')
  const found = context.world.credentials.refreshTokens[key]
  if (!found || found.appId !== app.id || found.expiresAt <= context.now()) return badRefresh
  context.store.change(world => {
    delete world.credentials.refreshTokens[key]
  })
  endUserToken(context, found.accessTokenKey)
  return shown(issueTokens(context, app, found.userId))
}

/** Decides one request; the status is 200 but for an unknown client. */
export const accessToken = (context: Context, form: Form): { readonly status: 200 | 404; readonly body: Answer } => {
  const app = appByClientId(context.world, form['client_id'] ?? '')
  if (!app) return { status: 404, body: { error: 'Not Found' } }
  if (!equalText(form['client_secret'] ?? '', app.clientSecret)) {
    return {
      status: 200,
      body: failure('incorrect_client_credentials', 'The client_id and/or client_secret passed are incorrect.'),
    }
  }
  const grant = form['grant_type'] ?? ''
  if (grant === 'refresh_token') return { status: 200, body: refresh(context, app, form) }
  if (grant === '' || grant === 'authorization_code') return { status: 200, body: exchangeCode(context, app, form) }
  return { status: 200, body: failure('unsupported_grant_type', 'The grant type is not supported.') }
}

/** Text fields of a query, form or JSON body; anything else is ignored. */
const textFields = (value: unknown): Form =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= 2000,
        ),
      )
    : {}

/** Registers the route. The server already parses forms and JSON. */
export const registerAccessToken = (server: FastifyInstance, context: Context): void => {
  server.post('/login/oauth/access_token', async (request, reply) => {
    const { status, body } = accessToken(context, { ...textFields(request.query), ...textFields(request.body) })
    await context.store.durable()
    void reply.code(status).header('cache-control', 'no-store')
    if (String(request.headers.accept ?? '').includes('json'))
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(body))
    const form = new URLSearchParams(Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]))
    return reply.type('application/x-www-form-urlencoded; charset=utf-8').send(form.toString())
  })
}
