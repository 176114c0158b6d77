// The signing keys of our issuer: one EC P-256 key for each period of 90 days. The key of the present period signs. The next
// key is published in advance, and the former key stays published while tokens signed by it may be in use, so that a rotation
// needs neither a pause nor an agreement between processes. The keeper creates each key once and stores it sealed; private keys
// never leave this process.
import { randomBytes } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'

/** Stores platform keys. */
export type KeyKeeper = {
  /** The key of that name, created by `make` when it does not exist; the same for every process. */
  readonly getOrCreate: (name: string, make: () => Promise<SecretString>) => Promise<SecretString>
}

/** The keys of the present period and its neighbours. */
export type IssuerKeys = {
  /** Private keys for the provider only, the signing key first. They change only during a call of `period` or `sign`. */
  readonly privateKeys: readonly JWK[]
  readonly publicKeys: { readonly keys: readonly JWK[] }
  /** Signs the cookies of the provider. */
  readonly cookieKey: SecretString
  /**
   * The number of the period whose key signs. Loads the keys of a period that has begun; when that fails, the present keys stay
   * in use.
   */
  readonly period: () => Promise<number>
  /**
   * A compact JWS over `claims` (ES256, RFC 7515); `type` becomes its `typ`, so that it is not accepted as another kind of
   * token.
   */
  readonly sign: (claims: Readonly<Record<string, unknown>>, type: string) => Promise<string>
}

const algorithm = 'ES256'
const periodMilliseconds = 90 * 24 * 3_600_000

async function newKey(): Promise<SecretString> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const key = await exportJWK(privateKey)
  return new SecretString(JSON.stringify({ ...key, kid: await calculateJwkThumbprint(key), alg: algorithm, use: 'sig' }))
}

function parsedKey(secret: SecretString): JWK {
  const key: unknown = JSON.parse(secret.reveal())
  if (isPrivateKey(key)) return key
  throw new AppError('integrity_violation', 'a stored signing key of the issuer is not an EC private key')
}

function isPrivateKey(key: unknown): key is JWK {
  if (typeof key !== 'object' || key === null) return false
  return ['kty', 'crv', 'x', 'y', 'd', 'kid'].every(field => field in key) && 'crv' in key && key.crv === 'P-256'
}

function publicPart(key: JWK): JWK {
  const { d: _private, ...rest } = key
  return rest
}

type KeySet = { readonly period: number; readonly privateKeys: readonly JWK[] }

async function keysOf(keeper: KeyKeeper, period: number): Promise<KeySet> {
  // The signing key comes first: the provider uses the first key that fits.
  const periods = [period, period + 1, period - 1]
  const privateKeys = await Promise.all(
    periods.map(async one => parsedKey(await keeper.getOrCreate(`oidc-signing-key-${one}`, newKey))),
  )
  return { period, privateKeys }
}

// Memory (keys of ID tokens): period → signing key of the issuer; the API server keeps the public ones (JWKS)
//   life: a period of 90 days, and while tokens signed by it are in use
//   bound: three periods
//   freshness: the next period; in the API server an unknown key id
//   replicas: in the store, the same for each
/**
 * Loads the keys of the present period; rejects when that fails. Later, `onError` gets each failure to load the keys of a new
 * period; the next call of `period` or `sign` tries again.
 */
export async function loadIssuerKeys(
  keeper: KeyKeeper,
  clock: Pick<Clock, 'now'>,
  onError: (error: unknown) => void,
): Promise<IssuerKeys> {
  const periodNow = (): number => Math.floor(clock.now().getTime() / periodMilliseconds)
  const cookieKey = await keeper.getOrCreate(
    'oidc-cookie-key',
    async () => new SecretString(randomBytes(32).toString('base64url')),
  )
  let current = await keysOf(keeper, periodNow())
  let loading: Promise<void> | undefined
  const load = async (period: number): Promise<void> => {
    try {
      current = await keysOf(keeper, period)
    } catch (error) {
      onError(error)
    } finally {
      loading = undefined
    }
  }
  const period = async (): Promise<number> => {
    const present = periodNow()
    if (present === current.period) return present
    loading ??= load(present)
    await loading
    return current.period
  }
  return {
    get privateKeys() {
      return current.privateKeys
    },
    get publicKeys() {
      return { keys: current.privateKeys.map(publicPart) }
    },
    cookieKey,
    period,
    async sign(claims, type) {
      await period()
      const [signing] = current.privateKeys
      if (signing === undefined) throw new AppError('integrity_violation', 'the issuer does not have a signing key')
      return new SignJWT({ ...claims })
        .setProtectedHeader({ alg: algorithm, typ: type, kid: String(signing.kid) })
        .setIssuedAt(clock.now())
        .sign(await importJWK(signing, algorithm))
    },
  }
}
