// Begins, refreshes and ends the user's login at the issuer, and keeps its tokens in the token file.
import * as oidc from 'openid-client'
import { AppError, isAppError, messageOf } from '../../lib/errors.ts'
import { type CachedTokens, readTokens, removeTokens, writeTokens } from '../files/token-cache.ts'
import { discoverIssuer, type Tokens, tokensToCache, translated } from './issuer-client.ts'
import { isGood, lifeLeft, type SessionDeps, underLock } from './login-state.ts'

const loginWaitMilliseconds = 6 * 60_000
const logoutWaitMilliseconds = 60_000

/**
 * Call it under the lock. Rejects with `unauthenticated` when the login has ended, and removes its tokens then. An answer that
 * does not come is asked for once more, with the same token, which the issuer accepts for a moment; and a refresh token whose
 * answer is not good otherwise, as with a wrong clock, is kept for the next time.
 */
export async function refreshTokens(deps: SessionDeps, latest: CachedTokens, refreshToken: string): Promise<CachedTokens> {
  const { settings, clock } = deps
  let kept = refreshToken
  try {
    const connection = await deps.connection()
    const configuration = await discoverIssuer(settings, connection, token => {
      kept = token
    })
    const grant = (): Promise<Tokens> => translated(() => oidc.refreshTokenGrant(configuration, kept))
    const tokens = await grant().catch(error => {
      if (isAppError(error, 'unavailable')) return grant()
      throw error
    })
    const next = tokensToCache(settings, tokens, latest)
    await writeTokens(settings, next)
    return next
  } catch (error) {
    if (isAppError(error, 'unauthenticated')) await removeTokens(settings)
    else if (kept !== refreshToken) await writeTokens(settings, { ...latest, refreshToken: kept })
    // The platform does not respond, but the present token is still valid for a short time.
    if (!isAppError(error, 'unauthenticated') && lifeLeft(latest, clock) > 5) return { ...latest, refreshToken: kept }
    throw error
  }
}

/** Runs `login` under the lock and saves its tokens. After waiting for another login it resolves to that login's tokens. */
export async function signIn(
  deps: SessionDeps,
  login: (configuration: oidc.Configuration) => Promise<Tokens>,
): Promise<CachedTokens> {
  const { settings, clock } = deps
  const began = clock.now().getTime()
  return underLock(deps, loginWaitMilliseconds, async () => {
    const waited = clock.now().getTime() - began > 1000
    const latest = waited ? await readTokens(settings) : undefined
    if (latest !== undefined && isGood(latest, clock)) return latest
    const configuration = await discoverIssuer(settings, await deps.connection())
    const next = tokensToCache(settings, await login(configuration))
    await writeTokens(settings, next)
    return next
  })
}

/**
 * Removes the tokens here, then ends the login at the issuer. Resolves to false without a login; rejects when only the first
 * succeeded.
 */
export async function signOut(deps: SessionDeps): Promise<boolean> {
  const { settings } = deps
  return underLock(deps, logoutWaitMilliseconds, async () => {
    const tokens = await readTokens(settings)
    await removeTokens(settings)
    const { refreshToken } = tokens ?? {}
    if (refreshToken === undefined) return tokens !== undefined
    try {
      const configuration = await discoverIssuer(settings, await deps.connection())
      await translated(() => oidc.tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' }))
    } catch (cause) {
      throw new AppError(
        'unavailable',
        `signed out on this computer, but not at ${settings.issuer} (${messageOf(cause)}): the login ends there after 12 hours without use`,
        { cause },
      )
    }
    return true
  })
}
