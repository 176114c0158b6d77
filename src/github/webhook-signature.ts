// Checks that a webhook came from GitHub: HMAC-SHA256 over the raw bytes as they arrive, compared in constant time. Headers
// such as the event name are not signed: code that reads the body must check that they agree with it.
// Source: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SecretString } from '../lib/secret-string.ts'

/** Verifies one webhook while its body arrives. */
export type WebhookVerifier = {
  /** The next bytes of the body. */
  readonly update: (bytes: Uint8Array) => void
  /** Ends the body; may be called once. False for a missing, malformed (also upper-case) or wrong signature. */
  readonly holds: (signature: string | undefined) => boolean
}

/** One secret, or two during a rotation; without a non-empty one no signature holds. */
export function createWebhookVerifier(secrets: readonly SecretString[]): WebhookVerifier {
  const digests = secrets.filter(secret => secret.length > 0).map(secret => createHmac('sha256', secret.reveal()))
  return {
    update(bytes) {
      for (const digest of digests) digest.update(bytes)
    },
    holds(signature) {
      const claimed = /^sha256=([0-9a-f]{64})$/.exec(signature ?? '')?.[1]
      if (claimed === undefined) return false
      const given = Buffer.from(claimed, 'hex')
      return digests.map(digest => timingSafeEqual(digest.digest(), given)).some(Boolean)
    },
  }
}
