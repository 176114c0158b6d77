// People's GitHub tokens: sealed in the store, refreshed before they expire. A refresh token of GitHub works once and
// invalidates the pair before it, so there is one refresh at a time per person, and the new pair is stored before it is used.
// Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens
import type { UserTokens } from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { StoredUser, Users } from '../../store/users.ts'
import type { BrokerGitHub } from '../github.ts'

export type UserTokenDeps = { readonly users: Users; readonly github: BrokerGitHub; readonly clock: Clock }

/** A token that expires sooner than this is refreshed first. */
const leastLifeMilliseconds = 10 * 60_000

/** The tokens of a sign-in or a refresh as fields of the stored person. */
export function tokenFields({ expiresAt, ...tokens }: UserTokens) {
  return { ...tokens, accessTokenExpiresAt: expiresAt }
}

function signInAgain(): AppError {
  return new AppError('unauthenticated', 'your GitHub sign-in has ended: sign in again')
}

function isFresh(user: StoredUser, now: Date): boolean {
  const { accessTokenExpiresAt } = user
  return accessTokenExpiresAt === undefined || accessTokenExpiresAt.getTime() - now.getTime() > leastLifeMilliseconds
}

async function storedUser(deps: UserTokenDeps, host: string, userId: number): Promise<StoredUser> {
  const user = await deps.users.find(host, userId)
  if (user === undefined) throw signInAgain()
  return user
}

/**
 * A token that is valid for minutes. Rejects with `unauthenticated` when the person has to sign in again, `unavailable` when
 * GitHub is away.
 */
export async function freshUserToken(deps: UserTokenDeps, host: string, userId: number): Promise<SecretString> {
  const { users, clock, github } = deps
  const known = await storedUser(deps, host, userId)
  if (isFresh(known, clock.now())) return known.accessToken
  return users.withRefreshLock(host, userId, async () => {
    const user = await storedUser(deps, host, userId)
    if (isFresh(user, clock.now())) return user.accessToken
    if (user.refreshToken === undefined) throw signInAgain()
    const tokens = await github.oauthOf(host).refresh(user.refreshToken)
    await users.save({ ...user, ...tokenFields(tokens) })
    return tokens.accessToken
  })
}
