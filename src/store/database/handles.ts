// Handles are bearer values of a person or a client (cookie, state, refresh token). The store has only their hash, so that a
// copy of the database cannot be used. A handle created here has 256 random bits, so a hash without a salt cannot be searched.
import { createHash, randomBytes } from 'node:crypto'
import { SecretString } from '../../lib/secret-string.ts'

const maxCharacters = 4096

/** A new handle of 256 random bits, in base64url. */
export function newHandle(): SecretString {
  return new SecretString(randomBytes(32).toString('base64url'))
}

/**
 * SHA-256 (hex) of the handle and its `purpose`, which separates equal handles of different use. Undefined for a text that is
 * empty or above 4096 characters.
 */
export function handleHash(purpose: string, handle: string): string | undefined {
  if (handle === '' || handle.length > maxCharacters) return undefined
  return createHash('sha256').update(`${purpose}\n${handle}`).digest('hex')
}
