// Seals values to a public key: whoever has only this cannot read what it sealed, itself included. The admission webhook loads
// this file and never the one that opens (.dependency-cruiser.cjs).
import { CompactEncrypt, importJWK } from 'jose'
import { AppError } from '../../lib/errors.ts'
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { placeParameter, placeText, type SealedPlace, sealedAlgorithms } from './place.ts'

/** Seals for one place: a compact JWE, different at each call. */
export type SealValue = (value: SecretString, place: SealedPlace) => Promise<string>

/** From a public JWK with its `kid`, as JSON. Throws `invalid_configuration` for anything else, and for a private key. */
export async function sealerOf(publicKey: string): Promise<SealValue> {
  const jwk = asObject(parseJson(publicKey))
  const keyId = textAt(jwk, 'kid')
  if (jwk === undefined || keyId === undefined || 'd' in jwk)
    throw new AppError('invalid_configuration', 'the key for values of AppSecrets is not a public JWK with a kid')
  const key = await importJWK(jwk, sealedAlgorithms.alg).catch(cause => {
    throw new AppError('invalid_configuration', 'the key for values of AppSecrets is not a public key on P-256', { cause })
  })
  return (value, place) =>
    new CompactEncrypt(new TextEncoder().encode(value.reveal()))
      .setProtectedHeader({ ...sealedAlgorithms, kid: keyId, [placeParameter]: placeText(place) })
      .encrypt(key)
}
