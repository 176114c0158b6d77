// The routes by which an application checks and ends its users' tokens, with its client id and secret as Basic credentials.
// https://docs.github.com/en/rest/apps/oauth-applications
import { createHash } from 'node:crypto'
import { endUserToken, revokeGrant } from '../../actions/user-tokens.ts'
import type { App } from '../../state/apps.ts'
import { timestamp } from '../../state/clock.ts'
import type { UserToken } from '../../state/credentials.ts'
import { appByClientId, userOf } from '../../state/github-state.ts'
import { basicCredentials } from '../../tokens/authenticate.ts'
import { credentialKey } from '../../tokens/formats.ts'
import { simpleUser } from '../../views/account.ts'
import { noContent, notFound, ok, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import type { RestCall, RestRoute } from '../route.ts'

type Subject = { readonly app: App; readonly key: string; readonly text: string; readonly token: UserToken }

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function appOf({ context, headers, params }: RestCall): App {
  const credentials = basicCredentials(String(headers['authorization'] ?? ''))
  const app = appByClientId(context.state, params['client_id'] ?? '')
  const right =
    credentials && app && credentials.name === app.clientId && digest(credentials.password) === digest(app.clientSecret)
  if (!credentials) throw new RestError(401, 'Requires authentication')
  if (!app || !right) throw notFound()
  return app
}

function subjectOf(call: RestCall): Subject {
  const app = appOf(call)
  const text = fieldsOf(call.body, 'Authorization').text('access_token', 1000)
  const key = credentialKey(text)
  const token = call.context.state.credentials.accessTokens[key]
  if (token?.kind !== 'user' || token.appId !== app.id || token.expiresAt <= call.context.now()) throw notFound()
  return { app, key, text, token }
}

function authorization({ context }: RestCall, { app, text, token }: Subject) {
  return {
    id: token.id,
    url: context.links.api(`/authorizations/${token.id}`),
    scopes: [],
    token: text,
    token_last_eight: token.lastEight,
    hashed_token: digest(text),
    app: { client_id: app.clientId, name: app.name, url: context.links.appPage(app.slug) },
    note: null,
    note_url: null,
    created_at: timestamp(token.createdAt),
    updated_at: timestamp(token.createdAt),
    fingerprint: null,
    expires_at: timestamp(token.expiresAt),
    user: simpleUser(context, userOf(context.state, token.userId)),
    installation: null,
  }
}

function route(method: RestRoute['method'], path: string, handle: RestRoute['handle']): RestRoute {
  return {
    method,
    path,
    needs: 'client credentials',
    handle,
  }
}

export const authorizationRoutes: readonly RestRoute[] = [
  route('POST', '/applications/{client_id}/token', call => ok(authorization(call, subjectOf(call)))),
  route('DELETE', '/applications/{client_id}/token', call => {
    endUserToken(call.context, subjectOf(call).key)
    return noContent
  }),
  route('DELETE', '/applications/{client_id}/grant', call => {
    const { app, token } = subjectOf(call)
    revokeGrant(call.context, app, token.userId)
    return noContent
  }),
]
