// The keys with which our issuer signs: one EC P-256 key for each period of 90 days. The present one signs; the next one is published before
// it does, and the one before stays published while what it signed may be in use, so that a change of keys needs no waiting and no agreement
// between processes. Made once and kept (sealed) by whoever passes `getOrCreate`; the private parts never leave this process.
import { randomBytes } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'

/** Where platform keys are kept: the same value for every process, made when it is asked for first. */
export type KeyKeeper = {
  readonly getOrCreate: (name: string, make: () => Promise<SecretString>) => Promise<SecretString>
}

export type IssuerKeys = {
  /** Private keys for the provider, the signing one first; hand them to nobody else. Of the period that `period` was last asked in. */
  readonly privateKeys: readonly JWK[]
  readonly publicKeys: { readonly keys: readonly JWK[] }
  /** Signs the provider's own cookies. */
  readonly cookieKey: SecretString
  /** Which period's key signs now; changes the keys above when a period has begun. While the next key cannot be had, the present one stays. */
  readonly period: () => Promise<number>
  /** A compact JWS over `claims` (ES256, RFC 7515) whose `typ` says what it is, so that it cannot pass for another kind of token. */
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
  throw new AppError('integrity_violation', 'a stored signing key of the issuer is no EC private key')
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
  // The one that signs comes first: the provider takes the first that fits.
  const periods = [period, period + 1, period - 1]
  const privateKeys = await Promise.all(
    periods.map(async one => parsedKey(await keeper.getOrCreate(`oidc-signing-key-${one}`, newKey))),
  )
  return { period, privateKeys }
}

/** `onError` hears why the keys of a period that has begun could not be had; asking again is asking again. */
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
  let changing: Promise<void> | undefined
  const change = async (period: number): Promise<void> => {
    try {
      current = await keysOf(keeper, period)
    } catch (error) {
      onError(error)
    } finally {
      changing = undefined
    }
  }
  const period = async (): Promise<number> => {
    const wanted = periodNow()
    if (wanted === current.period) return wanted
    changing ??= change(wanted)
    await changing
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
      if (signing === undefined) throw new AppError('integrity_violation', 'the issuer has no signing key')
      return new SignJWT({ ...claims })
        .setProtectedHeader({ alg: algorithm, typ: type, kid: String(signing.kid) })
        .setIssuedAt(clock.now())
        .sign(await importJWK(signing, algorithm))
    },
  }
}
