// Signs as the App: RS256 by a signer (../signing) for @octokit/auth-app, whose token cache is never used (its keys collide
// between Apps and scopes, so one tenant could receive another tenant's token). Tries two keys in order during a rotation and
// corrects a wrong clock by GitHub's Date header.
// Source:
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
import { createAppAuth } from '@octokit/auth-app'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Signer } from '../signing/signer.ts'
import { createSigningPause, type SigningPause } from '../signing/signing-pause.ts'
import { headersOf, statusOf } from '../transport/failure.ts'

type Deps = { readonly clientId: string; readonly signers: readonly Signer[]; readonly clock: Clock }

/** A JWT by one signer. */
type Signed = { readonly jwt: string; readonly skewSeconds: number; readonly until: number }

/** GitHub accepts ten minutes, and wants a margin for clocks that differ. */
const lifeSeconds = 600
const marginSeconds = 30
/** A JWT that cost a request to a key server is used for this long. */
const reusedMilliseconds = 240_000

export type AppSigner = {
  /** Runs `work` with an `Authorization` header that GitHub accepts; throws the last refusal when no key works. */
  readonly run: <T>(work: (authorization: string) => Promise<T>) => Promise<T>
  /** Why nothing would be signed now. */
  readonly refusal: SigningPause['refusal']
}

/** A clock that is off by at most this is not corrected: the JWT has 30 s of slack on one side. */
const toleratedSkewSeconds = 5

// Memory (App JWTs): signer that is a server → JWT of the App
//   life: four minutes
//   bound: two of each App
//   freshness: another measured clock; another client, which a changed App or Secret makes
//   replicas: each signs its own
/** @throws AppError `invalid_configuration` without a signer; what it returns throws what the signers throw, too */
export function createAppSigner(deps: Deps): AppSigner {
  if (deps.signers.length === 0) throw new AppError('invalid_configuration', 'a GitHub App needs at least one private key')
  let preferred = 0
  let skewSeconds = 0
  const signed = new Map<Signer, Signed>()
  const pause = createSigningPause(deps.clock)

  const sign = async (key: Signer): Promise<string> => {
    const now = deps.clock.now().getTime()
    const known = signed.get(key)
    if (known !== undefined && known.skewSeconds === skewSeconds && now < known.until) return `Bearer ${known.jwt}`
    const refuse = (): never => {
      throw new AppError('internal', 'the token cache of auth-app must not be used')
    }
    const auth = createAppAuth({
      appId: deps.clientId,
      createJwt: issuer => signedJwt(key, String(issuer), Math.floor(now / 1000) + skewSeconds),
      cache: { get: refuse, set: refuse },
    })
    const { token: jwt } = await pause.around(() => auth({ type: 'app' }))
    if (key.isRemote) signed.set(key, { jwt, skewSeconds, until: now + reusedMilliseconds })
    return `Bearer ${jwt}`
  }

  const tryKey = async <T>(key: Signer, work: (authorization: string) => Promise<T>): Promise<T> => {
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

  const run: AppSigner['run'] = async work => {
    let refusal: unknown
    for (let offset = 0; offset < deps.signers.length; offset++) {
      const index = (preferred + offset) % deps.signers.length
      const key = deps.signers[index]
      if (key === undefined) continue
      try {
        const result = await tryKey(key, work)
        preferred = index
        return result
      } catch (error) {
        if (statusOf(error) !== 401) throw error
        // The server may sign with another version of its key by now.
        signed.delete(key)
        refusal = error
      }
    }
    throw refusal
  }
  return { run, refusal: pause.refusal }
}

function skewFrom(date: string | number | undefined, now: Date): number | undefined {
  const githubTime = Date.parse(String(date ?? ''))
  return Number.isNaN(githubTime) ? undefined : Math.round((githubTime - now.getTime()) / 1000)
}

/** `now` is seconds by GitHub's clock. */
async function signedJwt(signer: Signer, issuer: string, now: number) {
  const issuedAt = now - marginSeconds
  const claims = { iat: issuedAt, exp: issuedAt + lifeSeconds, iss: issuer }
  const text = [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = await signer.sign(Buffer.from(text))
  return { jwt: `${text}.${signature.toString('base64url')}`, expiresAt: new Date(claims.exp * 1000).toISOString() }
}
