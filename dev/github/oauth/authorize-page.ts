// The consent page of the OAuth web flow and its redirect. It never redirects to an address that is not registered.
// https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { issueCode, rememberConsent } from '../actions/user-tokens.ts'
import { type PageCall, type PageResult, pagesOf } from '../pages/browser.ts'
import { html } from '../pages/html.ts'
import { formToken, page } from '../pages/layout.ts'
import type { App } from '../state/apps.ts'
import { appByClientId } from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'

type AuthorizeRequest = {
  readonly app: App
  readonly redirectUri: string
  readonly state: string | undefined
  readonly codeChallenge: string | null
}

/** A redirect with an error for the application. */
type Bounce = { readonly redirect: string }

function withParameters(address: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value)
  return url.toString()
}

function bounce(redirectUri: string, error: string, description: string, state: string | undefined): Bounce {
  return {
    redirect: withParameters(redirectUri, { error, error_description: description, state }),
  }
}

/** Reads and checks the parameters; an unknown client or a wrong redirect URI never causes a redirect. */
function readRequest(context: ActionContext, get: (name: string) => string | undefined): AuthorizeRequest | Bounce {
  const app = appByClientId(context.state, get('client_id') ?? '')
  if (!app) throw new Refusal(404, 'There is no application with this client_id.')
  const [registered] = app.callbackUrls
  if (registered === undefined) throw new Refusal(404, 'The application has no callback URL.')
  const state = get('state')
  const redirectUri = get('redirect_uri') ?? registered
  if (!app.callbackUrls.includes(redirectUri)) {
    return bounce(
      registered,
      'redirect_uri_mismatch',
      'The redirect_uri MUST match the registered callback URL for this application.',
      state,
    )
  }
  const codeChallenge = get('code_challenge') ?? null
  const method = get('code_challenge_method')
  if (codeChallenge !== null && (method !== 'S256' || !/^[A-Za-z0-9_-]{43}$/.test(codeChallenge))) {
    return bounce(
      redirectUri,
      'invalid_request',
      'The code_challenge_method must be S256 and the code_challenge its 43 characters.',
      state,
    )
  }
  return { app, redirectUri, state, codeChallenge }
}

function grant(context: ActionContext, request: AuthorizeRequest, userId: number): Bounce {
  const { app, redirectUri, codeChallenge, state } = request
  rememberConsent(context, app.id, userId)
  const code = issueCode(context, { appId: app.id, userId, redirectUri, codeChallenge })
  return { redirect: withParameters(redirectUri, { code, state }) }
}

function ask(call: PageCall): PageResult {
  const { context, visitor, query } = call
  const request = readRequest(context, name => query.get(name) ?? undefined)
  if ('redirect' in request) return request
  const { app } = request
  const consented = context.state.authorizations.some(one => one.appId === app.id && one.userId === visitor.user.id)
  if (query.get('prompt') === 'select_account' && query.get('selected') !== '1') {
    query.set('selected', '1')
    return { redirect: `/login?return_to=${encodeURIComponent(`/login/oauth/authorize?${query.toString()}`)}` }
  }
  if (consented) return grant(context, request, visitor.user.id)
  const kept = ['client_id', 'redirect_uri', 'state', 'code_challenge', 'code_challenge_method'].flatMap(name => {
    const value = query.get(name)
    return value === null ? [] : [html`<input type="hidden" name="${name}" value="${value}">`]
  })
  return page(
    `Authorize ${app.name}`,
    visitor,
    html`<p><strong>${app.name}</strong> wants to verify your GitHub identity, know which resources you can access and act on your behalf.</p>
<p>You will be sent to <code>${new URL(request.redirectUri).origin}</code>.</p>
<form method="post" action="/login/oauth/authorize">${formToken(visitor)}${kept}
<button name="authorize" value="1">Authorize ${app.slug}</button> <button class="quiet" name="authorize" value="0">Cancel</button></form>`,
  )
}

function decide(call: PageCall): PageResult {
  const request = readRequest(call.context, name => call.posted.one(name))
  if ('redirect' in request) return request
  if (call.posted.one('authorize') === '1') return grant(call.context, request, call.visitor.user.id)
  return bounce(request.redirectUri, 'access_denied', 'The user has denied your application access.', request.state)
}

export function registerAuthorizePage(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  pages.get('/login/oauth/authorize', ask)
  pages.post('/login/oauth/authorize', decide)
}
