// Owns: the routes by which an application checks and ends its users' tokens, with its client id and secret as Basic credentials.
// https://docs.github.com/en/rest/apps/oauth-applications
import { createHash } from 'node:crypto'
import { choosePermissions, chooseRepositories } from '../../actions/mint-installation-token.ts'
import { timestamp } from '../../clock.ts'
import { deriveUserToken, endUserToken, replaceUserToken, revokeGrant } from '../../oauth/issue.ts'
import type { App } from '../../state/apps.ts'
import type { TokenScope, UserToken } from '../../state/credentials.ts'
import { accountById, accountByLogin, accountOf, appByClientId, installationOf, userOf } from '../../state/world.ts'
import { basicCredentials } from '../../tokens/authenticate.ts'
import { credentialKey } from '../../tokens/formats.ts'
import { simpleUser } from '../../views/account.ts'
import { invalidField, noContent, notFound, ok, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import type { RestCall, RestRoute } from '../route.ts'
import { permissionsOf } from './permissions.ts'

type Subject = { readonly app: App; readonly key: string; readonly text: string; readonly token: UserToken }

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

const appOf = ({ context, headers, params }: RestCall): App => {
  const credentials = basicCredentials(String(headers['authorization'] ?? ''))
  const app = appByClientId(context.world, params['client_id'] ?? '')
  const right =
    credentials && app && credentials.name === app.clientId && digest(credentials.password) === digest(app.clientSecret)
  if (!credentials) throw new RestError(401, 'Requires authentication')
  if (!app || !right) throw notFound()
  return app
}

const subjectOf = (call: RestCall): Subject => {
  const app = appOf(call)
  const text = fieldsOf(call.body, 'Authorization').text('access_token', 1000)
  const key = credentialKey(text)
  const token = call.context.world.credentials.accessTokens[key]
  if (token?.kind !== 'user' || token.appId !== app.id || token.expiresAt <= call.context.now()) throw notFound()
  return { app, key, text, token }
}

/** What a narrowed token shows of the installation that it is bound to. */
const scopedInstallation = ({ context }: Pick<RestCall, 'context'>, scope: TokenScope | null) =>
  scope && {
    permissions: scope.permissions,
    repository_selection: scope.repositoryIds ? 'selected' : 'all',
    single_file_name: null,
    repositories_url: context.links.api('/user/repos'),
    account: simpleUser(context, accountOf(context.world, scope.accountId)),
  }

const authorization = ({ context }: RestCall, { app, text, token }: Subject) => ({
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
  user: simpleUser(context, userOf(context.world, token.userId)),
  installation: scopedInstallation({ context }, token.scope),
})

/** The same grant under a new text. */
const reset = (call: RestCall) => {
  const subject = subjectOf(call)
  return ok(authorization(call, { ...subject, ...tokenBehind(call, replaceUserToken(call.context, subject.key, subject.token)) }))
}

const tokenBehind = ({ context }: RestCall, text: string): Pick<Subject, 'key' | 'text' | 'token'> => {
  const key = credentialKey(text)
  const token = context.world.credentials.accessTokens[key]
  if (token?.kind !== 'user') throw new Error('a token that was just made is not there')
  return { key, text, token }
}

/** Narrows a token to one account, and there to some repositories and permissions. */
const scoped = (call: RestCall) => {
  const { context } = call
  const subject = subjectOf(call)
  // What was narrowed once could only be widened this way.
  if (subject.token.scope) throw new RestError(422, 'The access token is scoped already; use one that is not.')
  const fields = fieldsOf(call.body, 'Authorization')
  const targetId = fields.optionalNumber('target_id')
  const target = fields.optionalText('target', 100)
  const account = targetId === undefined ? accountByLogin(context.world, target ?? '') : accountById(context.world, targetId)
  const installation = account && installationOf(context.world, subject.app.id, account.id)
  if (!account || !installation) throw invalidField('Authorization', targetId === undefined ? 'target' : 'target_id', 'invalid')
  const repositories = chooseRepositories(context, installation, {
    repositories: fields.optionalTexts('repositories', 1000),
    repositoryIds: fields.optionalNumbers('repository_ids', 1000),
  })
  const scope: TokenScope = {
    accountId: account.id,
    repositoryIds: repositories?.map(one => one.id) ?? null,
    permissions: choosePermissions(installation, permissionsOf(fields.optionalRecord('permissions'))),
  }
  return ok(authorization(call, { ...subject, ...tokenBehind(call, deriveUserToken(context, subject.token, scope)) }))
}

const route = (method: RestRoute['method'], path: string, handle: RestRoute['handle']): RestRoute => ({
  method,
  path,
  needs: 'client credentials',
  handle,
})

export const authorizationRoutes: readonly RestRoute[] = [
  route('POST', '/applications/{client_id}/token', call => ok(authorization(call, subjectOf(call)))),
  route('PATCH', '/applications/{client_id}/token', reset),
  route('POST', '/applications/{client_id}/token/scoped', scoped),
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
