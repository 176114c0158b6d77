// GitHub's own test vector, and every way a signature can be wrong.
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SecretString } from '../lib/secret-string.ts'
import { verifyWebhook } from './webhook-signature.ts'

const secret = new SecretString("It's a Secret to Everybody")
const body = Buffer.from('Hello, World!')
const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
const signed = (bytes: Uint8Array): string => `sha256=${createHmac('sha256', secret.reveal()).update(bytes).digest('hex')}`

describe('a webhook signature', () => {
  test('of GitHub’s documentation is right', async () => {
    await expect(verifyWebhook([secret], body, signature)).resolves.toBe(true)
  })

  test('is checked against every secret of a rotation', async () => {
    await expect(verifyWebhook([new SecretString('new'), secret], body, signature)).resolves.toBe(true)
  })

  test('holds for a body with a byte order mark and with characters beyond ASCII', async () => {
    const bytes = Buffer.from('\uFEFF{"name":"関所 🛂"}')
    await expect(verifyWebhook([secret], bytes, signed(bytes))).resolves.toBe(true)
  })

  const bad: readonly (readonly [string, Uint8Array, string | undefined])[] = [
    ['missing', body, undefined],
    ['empty', body, ''],
    ['upper-case', body, signature.toUpperCase().replace('SHA256', 'sha256')],
    ['of SHA-1', body, `sha1=${createHmac('sha1', secret.reveal()).update(body).digest('hex')}`],
    ['shorter', body, signature.slice(0, -1)],
    ['over other bytes', Buffer.from('Hello, World?'), signature],
    ['over an empty body', Buffer.alloc(0), signed(Buffer.alloc(0))],
    ['over bytes that are no UTF-8', Buffer.from([0xff, 0xfe]), signed(Buffer.from([0xff, 0xfe]))],
  ]
  test.each(bad)('that is %s is refused', async (_name, bytes, value) => {
    await expect(verifyWebhook([secret], bytes, value)).resolves.toBe(false)
  })

  test('is refused when there is no secret, or an empty one', async () => {
    await expect(verifyWebhook([], body, signature)).resolves.toBe(false)
    await expect(verifyWebhook([new SecretString('')], body, signature)).resolves.toBe(false)
  })
})
