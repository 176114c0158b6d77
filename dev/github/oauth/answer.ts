// The responses of the OAuth endpoints: GitHub's error codes with status 200, as JSON or as a form. It never decides anything.
// https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import type { TokenPair } from '../actions/user-tokens.ts'

export type Form = Readonly<Record<string, string>>
export type OAuthAnswer = Readonly<Record<string, string | number>>
/** The status is 200 except for an unknown client. */
export type OAuthOutcome = { readonly status: 200 | 404; readonly body: OAuthAnswer }

const troubleshooting = 'https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/'

export function failure(error: string, description: string, more: OAuthAnswer = {}): OAuthAnswer {
  return {
    error,
    error_description: description,
    error_uri: `${troubleshooting}#${error.replaceAll('_', '-')}`,
    ...more,
  }
}

export const unknownClient: OAuthOutcome = { status: 404, body: { error: 'Not Found' } }

export function shownTokens(pair: TokenPair): OAuthAnswer {
  return {
    access_token: pair.accessToken,
    expires_in: pair.expiresIn,
    refresh_token: pair.refreshToken,
    refresh_token_expires_in: pair.refreshTokenExpiresIn,
    scope: '',
    token_type: 'bearer',
  }
}

/** Text fields of a query, form or JSON body; other fields are ignored. */
function textFields(value: unknown): Form {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= 2000,
        ),
      )
    : {}
}

/** Registers an endpoint for a form or JSON that responds with the result of `decide`. The server already parses both. */
export function registerOAuthRoute(
  server: FastifyInstance,
  context: ActionContext,
  path: string,
  decide: (context: ActionContext, form: Form) => OAuthOutcome,
): void {
  server.post(path, async (request, reply) => {
    const { status, body } = decide(context, { ...textFields(request.query), ...textFields(request.body) })
    await context.store.durable()
    void reply.code(status).header('cache-control', 'no-store')
    if (String(request.headers.accept ?? '').includes('json'))
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(body))
    const form = new URLSearchParams(Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]))
    return reply.type('application/x-www-form-urlencoded; charset=utf-8').send(form.toString())
  })
}
