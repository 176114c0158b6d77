// Makes the keys that values are sealed to, and opens what was sealed. Only the controllers load this file. A private key
// exists as a SecretString in the store and as a key object here, and is never returned in another form.
import { calculateJwkThumbprint, compactDecrypt, decodeProtectedHeader, exportJWK, generateKeyPair, importJWK } from 'jose'
import { AppError } from '../../lib/errors.ts'
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { placeParameter, placeText, type SealedPlace, sealedAlgorithms } from './place.ts'

/** A key pair in use. */
export type OpeningKey = {
  /** By which sealed values name it: the thumbprint of the public key (RFC 7638). */
  readonly id: string
  readonly madeAt: Date
  /** The public key as a JWK, in JSON: for `sealerOf`. */
  readonly publicKey: string
  /** Undefined when the value was sealed for another place or another key, or was altered. */
  readonly open: (sealed: string, place: SealedPlace) => Promise<SecretString | undefined>
}

/** A new key pair, as it is stored. */
export async function makeOpeningKey(now: Date): Promise<SecretString> {
  const { privateKey } = await generateKeyPair(sealedAlgorithms.alg, { crv: 'P-256', extractable: true })
  return new SecretString(JSON.stringify({ jwk: await exportJWK(privateKey), madeAt: now.toISOString() }))
}

/** Throws `integrity_violation` for a text that `makeOpeningKey` did not make. */
export async function openingKeyOf(stored: SecretString): Promise<OpeningKey> {
  const fields = asObject(parseJson(stored.reveal()))
  const jwk = asObject(fields?.['jwk'])
  const madeAt = new Date(textAt(fields, 'madeAt') ?? '')
  if (jwk === undefined || typeof jwk['d'] !== 'string' || Number.isNaN(madeAt.getTime()))
    throw new AppError('integrity_violation', 'a stored key for values of AppSecrets cannot be read')
  const { kty, crv, x, y } = jwk as { readonly [field: string]: string }
  const publicJwk = { kty, crv, x, y } as { kty: string; crv: string; x: string; y: string }
  const id = await calculateJwkThumbprint(publicJwk)
  const key = await importJWK({ ...publicJwk, d: String(jwk['d']) }, sealedAlgorithms.alg)
  return {
    id,
    madeAt,
    publicKey: JSON.stringify({ ...publicJwk, kid: id, use: 'enc', alg: sealedAlgorithms.alg }),
    async open(sealed, place) {
      try {
        const { plaintext, protectedHeader } = await compactDecrypt(sealed, key, {
          keyManagementAlgorithms: [sealedAlgorithms.alg],
          contentEncryptionAlgorithms: [sealedAlgorithms.enc],
        })
        if (protectedHeader[placeParameter] !== placeText(place)) return undefined
        return new SecretString(new TextDecoder('utf-8', { fatal: true }).decode(plaintext))
      } catch {
        // Whatever is wrong with it, it is not a value that was sealed for this place; jose's errors can hold parts of the input.
        return undefined
      }
    },
  }
}

/** The id of the key to which a value was sealed, as the value itself claims; undefined when it is not a JWE. */
export function claimedKeyId(sealed: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(sealed)
    return typeof kid === 'string' ? kid : undefined
  } catch {
    return undefined
  }
}
