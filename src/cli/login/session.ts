// The person's login on this computer: gives an ID token that is good for a while, refreshing silently, never by opening anything.
// All changes to the cached tokens happen under the lock, after another look at the file: a refresh token works once.
import * as oidc from 'openid-client'
import type { Clock } from '../../lib/clock.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { CliSettings } from '../config.ts'
import type { Connection } from '../connection.ts'
import { withLockFile } from '../files/lock-file.ts'
import { type CachedTokens, readTokens, removeTokens, tokenFile, writeTokens } from '../files/token-cache.ts'
import { discoverIssuer, type Tokens, tokensToCache, translated } from './issuer-client.ts'

export type SessionDeps = {
  readonly settings: CliSettings
  readonly connection: Connection
  readonly clock: Clock
  readonly say: (text: string) => void
}

const leastLifeSeconds = 60
const refreshWaitMilliseconds = 60_000
const loginWaitMilliseconds = 6 * 60_000

function lifeLeft(tokens: CachedTokens, clock: Clock): number {
  return tokens.expiresAt - clock.now().getTime() / 1000
}

function locked<T>(deps: SessionDeps, waitMilliseconds: number, work: () => Promise<T>): Promise<T> {
  const { clock, say } = deps
  const onWaiting = (): void => say('another sekisho is signing in; waiting for it …')
  return withLockFile(`${tokenFile(deps.settings)}.lock`, { clock, waitMilliseconds, onWaiting }, work)
}

/** Throws `unauthenticated` with the cure when there is no login or it has ended. */
export async function currentTokens(deps: SessionDeps): Promise<CachedTokens> {
  const { settings, clock } = deps
  const cached = await readTokens(settings)
  if (cached !== undefined && lifeLeft(cached, clock) > leastLifeSeconds) return cached
  return locked(deps, refreshWaitMilliseconds, async () => {
    const latest = await readTokens(settings)
    if (latest !== undefined && lifeLeft(latest, clock) > leastLifeSeconds) return latest
    if (latest?.refreshToken === undefined)
      throw new AppError('unauthenticated', `you are not signed in to ${settings.issuer}: run sekisho login`)
    return refreshed(deps, latest, latest.refreshToken)
  })
}

async function refreshed(deps: SessionDeps, latest: CachedTokens, refreshToken: string): Promise<CachedTokens> {
  const { settings, connection, clock } = deps
  try {
    const configuration = await discoverIssuer(settings, connection)
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

/** Runs a login under the lock and keeps what it brings. Who waited for another's login gets that one's result. */
export async function signIn(
  deps: SessionDeps,
  login: (configuration: oidc.Configuration) => Promise<Tokens>,
): Promise<CachedTokens> {
  const { settings, connection, clock } = deps
  const began = clock.now().getTime()
  return locked(deps, loginWaitMilliseconds, async () => {
    const waited = clock.now().getTime() - began > 1000
    const latest = waited ? await readTokens(settings) : undefined
    if (latest !== undefined && lifeLeft(latest, clock) > leastLifeSeconds) return latest
    const configuration = await discoverIssuer(settings, connection)
    const next = tokensToCache(settings, await login(configuration))
    await writeTokens(settings, next)
    return next
  })
}

/** Forgets the login here and ends it at the issuer. Returns false when there was none. */
export async function signOut(deps: SessionDeps): Promise<boolean> {
  const { settings, connection } = deps
  return locked(deps, refreshWaitMilliseconds, async () => {
    const tokens = await readTokens(settings)
    await removeTokens(settings)
    const { refreshToken } = tokens ?? {}
    if (refreshToken === undefined) return tokens !== undefined
    const configuration = await discoverIssuer(settings, connection)
    await translated(() => oidc.tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' }))
    return true
  })
}
