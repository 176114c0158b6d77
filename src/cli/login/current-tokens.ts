// An ID token that is good for a while: from the file, else refreshed silently. Never opens anything. The OIDC library is loaded only
// when there is something to refresh, because kubectl asks for a token at every start.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { CliSettings } from '../config.ts'
import type { Connection } from '../connection.ts'
import { withLockFile } from '../files/lock-file.ts'
import { type CachedTokens, readTokens, tokenFile } from '../files/token-cache.ts'

export type SessionDeps = {
  readonly settings: CliSettings
  /** Opened when it is needed first. */
  readonly connection: () => Promise<Connection>
  readonly clock: Clock
  readonly say: (text: string) => void
}

const leastLifeSeconds = 60
const refreshWaitMilliseconds = 60_000

/** Seconds. */
export function lifeLeft(tokens: CachedTokens, clock: Clock): number {
  return tokens.expiresAt - clock.now().getTime() / 1000
}

export function isGood(tokens: CachedTokens, clock: Clock): boolean {
  return lifeLeft(tokens, clock) > leastLifeSeconds
}

/** All changes to the cached tokens happen under this lock, after another look at the file: a refresh token works once. */
export function underLock<T>(deps: SessionDeps, waitMilliseconds: number, work: () => Promise<T>): Promise<T> {
  const { clock, say } = deps
  const onWaiting = (): void => say('another sekisho is signing in; waiting for it …')
  return withLockFile(`${tokenFile(deps.settings)}.lock`, { clock, waitMilliseconds, onWaiting }, work)
}

/** Throws `unauthenticated` with the cure when there is no login or it has ended. */
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
