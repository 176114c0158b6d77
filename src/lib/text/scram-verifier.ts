// A password as PostgreSQL stores it, computed here: the statement that sets it then holds no password, in no log of the
// server. Pure but for the salt.
// Source: RFC 5802 §3; https://www.postgresql.org/docs/current/catalog-pg-authid.html (rolpassword)
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { AppError } from '../errors.ts'
import type { SecretString } from '../secret-string.ts'

const iterations = 4096
/** What SASLprep (RFC 4013) leaves as it is. */
const printable = /^[\x21-\x7e]{8,200}$/

/** Throws `invalid_configuration` for a password that is not 8 to 200 printable ASCII characters without spaces. */
export function scramVerifier(password: SecretString, variable: string): string {
  if (!printable.test(password.reveal()))
    throw new AppError(
      'invalid_configuration',
      `${variable} must be 8 to 200 printable ASCII characters without spaces: openssl rand -hex 24`,
    )
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password.reveal(), salt, iterations, 32, 'sha256')
  const keyed = (text: string): Buffer => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`
}
