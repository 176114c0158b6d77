// Signs as the App: RS256 by @octokit/auth-app, whose token cache is never used (its keys collide between Apps and scopes, so
// one tenant could receive another tenant's token). Tries two keys in order during a rotation and corrects a wrong clock by
// GitHub's Date header.
// Source:
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
import { createAppAuth } from '@octokit/auth-app'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { headersOf, statusOf } from '../transport/failure.ts'

type Deps = { readonly clientId: string; readonly privateKeys: readonly SecretString[]; readonly clock: Clock }

/** Runs `work` with an `Authorization` header that GitHub accepts; throws the last refusal when no key works. */
export type AppSigner = <T>(work: (authorization: string) => Promise<T>) => Promise<T>

/** A clock that is off by at most this is not corrected: the JWT has 30 s of slack on one side. */
const toleratedSkewSeconds = 5

/**
 * @throws AppError `invalid_configuration` without a key; the signer throws it (reason PrivateKeyUnreadable) for a key that is
 * not RSA PEM
 */
export function createAppSigner(deps: Deps): AppSigner {
  if (deps.privateKeys.length === 0) throw new AppError('invalid_configuration', 'a GitHub App needs at least one private key')
  let preferred = 0
  let skewSeconds = 0

  const sign = async (key: SecretString): Promise<string> => {
    const refuse = (): never => {
      throw new AppError('internal', 'the token cache of auth-app must not be used')
    }
    const auth = createAppAuth({
      appId: deps.clientId,
      privateKey: key.reveal(),
      timeDifference: Math.round((deps.clock.now().getTime() - Date.now()) / 1000) + skewSeconds,
      cache: { get: refuse, set: refuse },
    })
    try {
      return `Bearer ${(await auth({ type: 'app' })).token}`
    } catch {
      throw new AppError('invalid_configuration', 'the private key of the GitHub App is not an RSA key in PEM', {
        reason: 'PrivateKeyUnreadable',
      })
    }
  }

  const tryKey = async <T>(key: SecretString, work: (authorization: string) => Promise<T>): Promise<T> => {
    // The correction that this request was signed with: a concurrent one may measure the clock, and correct it, meanwhile.
    const signedSkew = skewSeconds
    try {
      return await work(await sign(key))
    } catch (error) {
      const measured = statusOf(error) === 401 ? skewFrom(headersOf(error)['date'], deps.clock.now()) : undefined
      if (measured === undefined || Math.abs(measured - signedSkew) <= toleratedSkewSeconds) throw error
      skewSeconds = measured
      return await work(await sign(key))
    }
  }

  return async work => {
    let refusal: unknown
    for (let offset = 0; offset < deps.privateKeys.length; offset++) {
      const index = (preferred + offset) % deps.privateKeys.length
      const key = deps.privateKeys[index]
      if (key === undefined) continue
      try {
        const result = await tryKey(key, work)
        preferred = index
        return result
      } catch (error) {
        if (statusOf(error) !== 401) throw error
        refusal = error
      }
    }
    throw refusal
  }
}

function skewFrom(date: string | number | undefined, now: Date): number | undefined {
  const githubTime = Date.parse(String(date ?? ''))
  return Number.isNaN(githubTime) ? undefined : Math.round((githubTime - now.getTime()) / 1000)
}
