// Begins, renews and ends the person's login at the issuer, and keeps what it brings in the token file. Callers of `refreshTokens` hold the lock.
import * as oidc from 'openid-client'
import { AppError, isAppError, messageOf } from '../../lib/errors.ts'
import { type CachedTokens, readTokens, removeTokens, writeTokens } from '../files/token-cache.ts'
import { discoverIssuer, type Tokens, tokensToCache, translated } from './issuer-client.ts'
import { isGood, lifeLeft, type SessionDeps, underLock } from './login-state.ts'

const loginWaitMilliseconds = 6 * 60_000
const logoutWaitMilliseconds = 60_000

/** With the lock held. Throws `unauthenticated` when the login has ended; then it is forgotten here too. */
export async function refreshTokens(deps: SessionDeps, latest: CachedTokens, refreshToken: string): Promise<CachedTokens> {
  const { settings, clock } = deps
  try {
    const configuration = await discoverIssuer(settings, await deps.connection())
    const tokens = await translated(() => oidc.refreshTokenGrant(configuration, refreshToken))
    const next = tokensToCache(settings, tokens, latest)
    await writeTokens(settings, next)
    return next
  } catch (error) {
    if (isAppError(error, 'unauthenticated')) await removeTokens(settings)
    // The platform does not answer, but what we hold is still good for a moment.
    else if (lifeLeft(latest, clock) > 5) return latest
    throw error
  }
}

/** Runs a login under the lock and keeps what it brings. Who had to wait for another login gets that one's result. */
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

/** Forgets the login here, then ends it at the issuer. Returns false when there was none; throws when only the first could be done. */
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
        `signed out on this computer, but ${settings.issuer} could not be told (${messageOf(cause)}): there the login ends when it has not been used for 12 hours`,
        { cause },
      )
    }
    return true
  })
}
