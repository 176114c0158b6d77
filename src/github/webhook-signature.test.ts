// GitHub's own test vector, every way in which a signature can be wrong, and a comparison with GitHub's library.
import { createHmac } from 'node:crypto'
import { sign } from '@octokit/webhooks-methods'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SecretString } from '../lib/secret-string.ts'
import { createWebhookVerifier } from './webhook-signature.ts'

const secret = new SecretString("It's a Secret to Everybody")
const body = Buffer.from('Hello, World!')
const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
const signed = (bytes: Uint8Array): string => `sha256=${createHmac('sha256', secret.reveal()).update(bytes).digest('hex')}`

function holds(secrets: readonly SecretString[], bytes: Uint8Array, value: string | undefined, step = 5): boolean {
  const verifier = createWebhookVerifier(secrets)
  for (let start = 0; start < bytes.length; start += step) verifier.update(bytes.subarray(start, start + step))
  return verifier.holds(value)
}

describe('a webhook signature', () => {
  test('of GitHub’s documentation is accepted', () => {
    expect(holds([secret], body, signature)).toBe(true)
  })

  test('is checked against every secret of a rotation', () => {
    expect(holds([new SecretString('new'), secret], body, signature)).toBe(true)
  })

  test('is accepted for a body with a byte order mark and with characters beyond ASCII', () => {
    const bytes = Buffer.from('\uFEFF{"name":"関所 🛂"}')
    expect(holds([secret], bytes, signed(bytes))).toBe(true)
  })

  const bad: readonly (readonly [string, Uint8Array, string | undefined])[] = [
    ['missing', body, undefined],
    ['empty', body, ''],
    ['upper-case', body, signature.toUpperCase().replace('SHA256', 'sha256')],
    ['of SHA-1', body, `sha1=${createHmac('sha1', secret.reveal()).update(body).digest('hex')}`],
    ['shorter', body, signature.slice(0, -1)],
    ['over other bytes', Buffer.from('Hello, World?'), signature],
  ]
  test.each(bad)('that is %s is refused', (_name, bytes, value) => {
    expect(holds([secret], bytes, value)).toBe(false)
  })

  test('equals that of GitHub’s library, in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, unit: 'grapheme' }), fc.integer({ min: 1, max: 50 }), async (text, step) => {
        expect(holds([secret], Buffer.from(text), await sign(secret.reveal(), text), step)).toBe(true)
      }),
    )
  })

  test('is refused when there is no secret, or an empty one', () => {
    expect(holds([], body, signature)).toBe(false)
    expect(holds([new SecretString('')], body, signature)).toBe(false)
  })
})
