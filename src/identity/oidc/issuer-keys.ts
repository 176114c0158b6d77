// The keys with which our issuer signs: two EC P-256 keys, the first signs, the second is already published so that a change of keys
// needs no waiting. Made once and kept (sealed) by whoever passes `getOrCreate`; the private parts never leave this process.
import { randomBytes } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'

/** Where platform keys are kept: the same value for every process, made when it is asked for first. */
export type KeyKeeper = {
  readonly getOrCreate: (name: string, make: () => Promise<SecretString>) => Promise<SecretString>
}

export type IssuerKeys = {
  /** Private keys for the provider; hand them to nobody else. */
  readonly privateKeys: readonly JWK[]
  readonly publicKeys: { readonly keys: readonly JWK[] }
  /** Signs the provider's own cookies. */
  readonly cookieKey: SecretString
  /** A compact JWS over `claims` (ES256, RFC 7515) whose `typ` says what it is, so that it cannot pass for another kind of token. */
  readonly sign: (claims: Readonly<Record<string, unknown>>, type: string) => Promise<string>
}

const algorithm = 'ES256'

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const key = await exportJWK(privateKey)
  return { ...key, kid: await calculateJwkThumbprint(key), alg: algorithm, use: 'sig' }
}

async function newKeySet(): Promise<SecretString> {
  return new SecretString(JSON.stringify([await newKey(), await newKey()]))
}

function parsedKeys(secret: SecretString): readonly JWK[] {
  const keys: unknown = JSON.parse(secret.reveal())
  if (Array.isArray(keys) && keys.length > 0 && keys.every(isPrivateKey)) return keys
  throw new AppError('integrity_violation', 'the stored signing keys of the issuer are not a list of EC private keys')
}

function isPrivateKey(key: unknown): key is JWK {
  if (typeof key !== 'object' || key === null) return false
  return ['kty', 'crv', 'x', 'y', 'd', 'kid'].every(field => field in key) && 'crv' in key && key.crv === 'P-256'
}

function publicPart(key: JWK): JWK {
  const { d: _private, ...rest } = key
  return rest
}

export async function loadIssuerKeys(keeper: KeyKeeper): Promise<IssuerKeys> {
  const privateKeys = parsedKeys(await keeper.getOrCreate('oidc-signing-keys', newKeySet))
  const cookieKey = await keeper.getOrCreate(
    'oidc-cookie-key',
    async () => new SecretString(randomBytes(32).toString('base64url')),
  )
  const [signing] = privateKeys
  if (signing === undefined) throw new AppError('integrity_violation', 'the issuer has no signing key')
  const key = await importJWK(signing, algorithm)
  return {
    privateKeys,
    publicKeys: { keys: privateKeys.map(publicPart) },
    cookieKey,
    sign: (claims, type) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: algorithm, typ: type, kid: String(signing.kid) })
        .setIssuedAt()
        .sign(key),
  }
}
