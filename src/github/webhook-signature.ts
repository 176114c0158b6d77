// Checks that a webhook came from GitHub: HMAC-SHA256 over the raw bytes, compared in constant time. Header values such as the event
// name are not signed: whoever reads the body must make them agree with it.
// Source: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
import { verify } from '@octokit/webhooks-methods'
import type { SecretString } from '../lib/secret-string.ts'

/** False for a missing, malformed (also upper-case) or wrong signature, an empty body, and bytes that are no UTF-8. */
export async function verifyWebhook(
  secrets: readonly SecretString[],
  rawBody: Uint8Array,
  signature: string | undefined,
): Promise<boolean> {
  if (signature === undefined || !/^sha256=[0-9a-f]{64}$/.test(signature) || rawBody.byteLength === 0) return false
  const body = exactText(rawBody)
  if (body === undefined) return false
  for (const secret of secrets) {
    if (secret.length > 0 && (await verify(secret.reveal(), body, signature))) return true
  }
  return false
}

/** The library signs texts. Only valid UTF-8 with its byte order mark kept turns into a text and back into the very same bytes. */
function exactText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
