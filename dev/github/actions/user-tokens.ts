// Codes and user tokens of an App: how they are issued and how they end. It never knows HTTP.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
import type { App } from '../state/apps.ts'
import { days, hours, minutes, timestamp } from '../state/clock.ts'
import type { AuthorizationCode } from '../state/credentials.ts'
import { type GitHubState, nextId, userOf } from '../state/github-state.ts'
import { credentialKey, newAuthorizationCode, newRefreshToken, newUserToken } from '../tokens/formats.ts'
import { simpleUser } from '../views/account.ts'
import type { ActionContext } from './context.ts'

export type TokenPair = {
  readonly accessToken: string
  /** Seconds: 8 hours. */
  readonly expiresIn: number
  readonly refreshToken: string
  /** Seconds: about six months. */
  readonly refreshTokenExpiresIn: number
}

const accessLife = hours(8)
const refreshLife = days(184)
/** GitHub keeps ten tokens per person and App; the eleventh ends the oldest. */
const maxTokens = 10

/** Records that the person lets the App act for them. */
export function rememberConsent(context: ActionContext, appId: number, userId: number): void {
  if (context.state.authorizations.some(one => one.appId === appId && one.userId === userId)) return
  context.store.change(state => {
    state.authorizations.push({ id: nextId(state), appId, userId, createdAt: timestamp(context.now()) })
  })
}

/**
 * A code that is valid for ten minutes and one exchange. `codeChallenge` is the S256 challenge of PKCE, if the request had one.
 */
export function issueCode(context: ActionContext, facts: Omit<AuthorizationCode, 'expiresAt'>): string {
  const code = newAuthorizationCode()
  context.store.change(state => {
    state.credentials.codes[credentialKey(code)] = { ...facts, expiresAt: context.now() + minutes(10) }
  })
  return code
}

function userTokensOf({ credentials }: GitHubState, appId: number, userId: number) {
  return Object.entries(credentials.accessTokens).flatMap(([key, token]) =>
    token.kind === 'user' && token.appId === appId && token.userId === userId
      ? [{ key, createdAt: token.createdAt, id: token.id }]
      : [],
  )
}

/** Ends an access token together with its refresh token. */
export function endUserToken(context: ActionContext, key: string): void {
  context.store.change(({ credentials }) => {
    delete credentials.accessTokens[key]
    for (const [refreshKey, refresh] of Object.entries(credentials.refreshTokens)) {
      if (refresh.accessTokenKey === key) delete credentials.refreshTokens[refreshKey]
    }
  })
}

/** Issues a pair of access and refresh token. */
export function issueTokens(context: ActionContext, app: App, userId: number): TokenPair {
  const older = userTokensOf(context.state, app.id, userId).sort(
    (left, right) => left.createdAt - right.createdAt || left.id - right.id,
  )
  for (const one of older.slice(0, Math.max(0, older.length - maxTokens + 1))) endUserToken(context, one.key)
  const accessToken = newUserToken()
  const refreshToken = newRefreshToken()
  const now = context.now()
  context.store.change(state => {
    const key = credentialKey(accessToken)
    state.credentials.accessTokens[key] = {
      kind: 'user',
      id: nextId(state),
      appId: app.id,
      userId,
      lastEight: accessToken.slice(-8),
      createdAt: now,
      expiresAt: now + accessLife,
    }
    state.credentials.refreshTokens[credentialKey(refreshToken)] = {
      appId: app.id,
      userId,
      accessTokenKey: key,
      expiresAt: now + refreshLife,
    }
  })
  return { accessToken, expiresIn: accessLife / 1000, refreshToken, refreshTokenExpiresIn: refreshLife / 1000 }
}

/** Ends the consent and every token under it. Returns whether there was a consent. */
export function revokeGrant(context: ActionContext, app: App, userId: number): boolean {
  const had = context.state.authorizations.some(one => one.appId === app.id && one.userId === userId)
  for (const one of userTokensOf(context.state, app.id, userId)) endUserToken(context, one.key)
  context.store.change(state => {
    state.authorizations = state.authorizations.filter(one => !(one.appId === app.id && one.userId === userId))
    for (const [key, code] of Object.entries(state.credentials.codes)) {
      if (code.appId === app.id && code.userId === userId) delete state.credentials.codes[key]
    }
  })
  if (had) {
    context.webhooks.emitToApp(app, {
      name: 'github_app_authorization',
      action: 'revoked',
      payload: { sender: simpleUser(context, userOf(context.state, userId)) },
    })
  }
  return had
}
