// `POST /login/oauth/access_token`: takes a code or refresh token and issues a user token. A single-use credential is used up
// before anything else can fail.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { endUserToken, issueTokens } from '../actions/user-tokens.ts'
import type { App } from '../state/apps.ts'
import { appByClientId } from '../state/github-state.ts'
import { credentialKey } from '../tokens/formats.ts'
import {
  type Form,
  failure,
  type OAuthAnswer,
  type OAuthOutcome,
  registerOAuthRoute,
  shownTokens,
  unknownClient,
} from './answer.ts'

const badCode = failure('bad_verification_code', 'The code passed is incorrect or expired.')
const badRefresh = failure('bad_refresh_token', 'The refresh token passed is incorrect or expired.')
const badClient = failure('incorrect_client_credentials', 'The client_id and/or client_secret passed are incorrect.')

function equalText(left: string, right: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(left), hash(right))
}

/** S256 of PKCE (RFC 7636 §4.6); a code that was issued without a challenge needs no verifier. */
function verifierFits(challenge: string | null, verifier: string | undefined): boolean {
  if (challenge === null) return true
  return verifier !== undefined && equalText(createHash('sha256').update(verifier).digest('base64url'), challenge)
}

function exchangeCode(context: ActionContext, app: App, form: Form): OAuthAnswer {
  const key = credentialKey(form['code'] ?? '')
  const code = context.state.credentials.codes[key]
  if (!code || code.appId !== app.id || code.expiresAt <= context.now()) return badCode
  const redirectUri = form['redirect_uri']
  if (redirectUri !== undefined && redirectUri !== '' && redirectUri !== code.redirectUri) {
    return failure('redirect_uri_mismatch', 'The redirect_uri MUST match the registered callback URL for this application.')
  }
  // The code is used up in every case, so that its verifier cannot be guessed.
  context.store.change(state => {
    delete state.credentials.codes[key]
  })
  if (!verifierFits(code.codeChallenge, form['code_verifier'])) return badCode
  return shownTokens(issueTokens(context, app, code.userId))
}

function refresh(context: ActionContext, app: App, form: Form): OAuthAnswer {
  const key = credentialKey(form['refresh_token'] ?? '')
  const found = context.state.credentials.refreshTokens[key]
  if (!found || found.appId !== app.id || found.expiresAt <= context.now()) return badRefresh
  context.store.change(state => {
    delete state.credentials.refreshTokens[key]
  })
  endUserToken(context, found.accessTokenKey)
  return shownTokens(issueTokens(context, app, found.userId))
}

function decide(context: ActionContext, app: App, form: Form): OAuthAnswer {
  const grant = form['grant_type'] ?? ''
  const secret = form['client_secret']
  if (secret === undefined || !equalText(secret, app.clientSecret)) return badClient
  if (grant === 'refresh_token') return refresh(context, app, form)
  if (grant === '' || grant === 'authorization_code') return exchangeCode(context, app, form)
  return failure('unsupported_grant_type', 'The grant type is not supported.')
}

/** Decides one request; the status is 200 except for an unknown client. */
export function accessToken(context: ActionContext, form: Form): OAuthOutcome {
  const app = appByClientId(context.state, form['client_id'] ?? '')
  return app ? { status: 200, body: decide(context, app, form) } : unknownClient
}

export function registerAccessToken(server: FastifyInstance, context: ActionContext): void {
  registerOAuthRoute(server, context, '/login/oauth/access_token', accessToken)
}
