// Handles are what a person or a client holds (cookie, state, refresh token); the store keeps only their hash, so that a copy of the
// database opens nothing. A handle made here has 256 random bits, so a plain hash cannot be searched.
import { createHash, randomBytes } from 'node:crypto'
import { SecretString } from '../../lib/secret-string.ts'

const mostCharacters = 4096

export function newHandle(): SecretString {
  return new SecretString(randomBytes(32).toString('base64url'))
}

/** SHA-256 (hex) of the handle; `purpose` keeps equal handles of different use apart. Undefined for what can be no handle. */
export function handleHash(purpose: string, handle: string): string | undefined {
  if (handle === '' || handle.length > mostCharacters) return undefined
  return createHash('sha256').update(`${purpose}\n${handle}`).digest('hex')
}
