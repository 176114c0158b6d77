// A valid ID token: from the token file, else refreshed. It never opens a browser. The OIDC library is loaded only for a
// refresh, because kubectl starts `sekisho token` for every command.
import { AppError } from '../../lib/errors.ts'
import { type CachedTokens, readTokens } from '../files/token-cache.ts'
import { isGood, type SessionDeps, underLock } from './login-state.ts'

const refreshWaitMilliseconds = 60_000

/** Rejects with `unauthenticated`, which says what to do, when there is no login or it has ended. */
export async function currentTokens(deps: SessionDeps): Promise<CachedTokens> {
  const { settings, clock } = deps
  const cached = await readTokens(settings)
  if (cached !== undefined && isGood(cached, clock)) return cached
  return underLock(deps, refreshWaitMilliseconds, async () => {
    const latest = await readTokens(settings)
    if (latest !== undefined && isGood(latest, clock)) return latest
    if (latest?.refreshToken === undefined)
      throw new AppError('unauthenticated', `you are not signed in to ${settings.issuer}: run sekisho login`)
    const { refreshTokens } = await import('./session.ts')
    return refreshTokens(deps, latest, latest.refreshToken)
  })
}
