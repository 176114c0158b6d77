// What identifies a token in the audit log, here and at GitHub, and opens nothing. Pure.
import { createHash } from 'node:crypto'
import type { SecretString } from '../../lib/secret-string.ts'

/**
 * SHA-256 of the token, in base64 with padding: `hashed_token` in GitHub's audit log.
 * Source:
 * https://docs.github.com/en/organizations/keeping-your-organization-secure/managing-security-settings-for-your-organization/identifying-audit-log-events-performed-by-an-access-token
 */
export function hashedToken(token: SecretString): string {
  return createHash('sha256').update(token.reveal()).digest('base64')
}
