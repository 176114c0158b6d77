// The signature of a webhook delivery. https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
import { createHmac } from 'node:crypto'

/** `sha256=<hex>` over the raw bytes of the body. */
export function signSha256(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** The older header, which GitHub still sends too. */
export function signSha1(secret: string, body: string): string {
  return `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`
}
