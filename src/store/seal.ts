// Encryption at rest for the few values the store must be able to read back (tokens, refresh tokens): AES-256-GCM under a
// keyring. The additional data binds a ciphertext to its row: a value moved to another row does not open. It never logs a value
// nor puts one into an error.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import { SecretString } from '../lib/secret-string.ts'

/**
 * Seals and opens secrets. `context` is authenticated, not stored: `open` must name the same one. `open` throws
 * `integrity_violation` for a value that was altered, moved or sealed by an unknown key.
 */
export type Sealer = {
  /**
   * One for each key of the keyring, in its order: the second part of what it seals (`v1.<id>.…`). They differ between
   * purposes.
   */
  readonly keyIds: readonly string[]
  readonly seal: (secret: SecretString, context: string) => string
  readonly open: (sealed: string, context: string) => SecretString
}

/** By which people recognise a key of the keyring: 8 hexadecimal digits, derived by HKDF, from which the key cannot be found. */
export function keyFingerprint(key: SecretString): string {
  return keyId(derivedKey(key, 'key-fingerprint'))
}

/** In bytes. Without it Node.js accepts shorter, weaker tags when it opens. */
const authTagLength = 16
const version = 'v1'

/**
 * A keyring of base64 keys of 32 bytes: the first seals, all open, so that keys can be rotated. Each `purpose` derives a key of
 * its own (HKDF, RFC 5869), so that a value sealed for one purpose does not open for another. Throws `invalid_configuration`
 * for an unusable key.
 */
export function createSealer(keys: readonly SecretString[], purpose: string): Sealer {
  const ring = keys.map(key => {
    const derived = derivedKey(key, purpose)
    return { id: keyId(derived), key: derived }
  })
  const [sealing] = ring
  if (!sealing) throw new AppError('invalid_configuration', 'at least one encryption key is needed')

  return {
    keyIds: ring.map(({ id }) => id),
    seal(secret, context) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealing.key, nonce, { authTagLength })
      cipher.setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(secret.reveal(), 'utf8'), cipher.final()])
      return [version, sealing.id, Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')].join('.')
    },
    open(sealed, context) {
      const [tag, id, payload] = sealed.split('.')
      const found = ring.find(candidate => candidate.id === id)
      if (tag !== version || !found || !payload)
        throw new AppError('integrity_violation', 'a sealed value names a key that is not in the keyring')
      const bytes = Buffer.from(payload, 'base64url')
      try {
        const decipher = createDecipheriv('aes-256-gcm', found.key, bytes.subarray(0, 12), { authTagLength })
        decipher.setAAD(Buffer.from(context))
        decipher.setAuthTag(bytes.subarray(12, 28))
        return new SecretString(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8'))
      } catch (cause) {
        throw new AppError('integrity_violation', 'a sealed value does not open: wrong key, wrong row or altered', { cause })
      }
    },
  }
}

function derivedKey(key: SecretString, purpose: string): Buffer {
  const material = Buffer.from(key.reveal(), 'base64')
  if (material.length !== 32)
    throw new AppError('invalid_configuration', 'an encryption key must be 32 bytes in base64: openssl rand -base64 32')
  return Buffer.from(hkdfSync('sha256', material, '', `sekisho:${purpose}`, 32))
}

function keyId(derived: Buffer): string {
  return createHash('sha256').update(derived).digest('hex').slice(0, 8)
}
