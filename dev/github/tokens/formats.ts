// The text format of each credential. It never knows what a credential permits.
// https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/ ; the stateless form of installation tokens is
// `ghs_<APPID>_<JWT>`, about 520 characters (github.blog changelog, 2026-04).
import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random characters of base 62; unbiased, because bytes beyond the last full multiple of 62 are discarded. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length)
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += alphabet[byte % 62]
  return text
}

/** `ghu_`, `ghr_` (76 characters), `ghp_` and short `ghs_` tokens. */
export function newUserToken(): string {
  return `ghu_${randomText(36)}`
}

export function newRefreshToken(): string {
  return `ghr_${randomText(72)}`
}

export function newPersonalToken(): string {
  return `ghp_${randomText(36)}`
}

export function newShortInstallationToken(): string {
  return `ghs_${randomText(36)}`
}

/** 20 lower-case hexadecimal characters, the form of GitHub's codes. */
export function newAuthorizationCode(): string {
  return randomBytes(10).toString('hex')
}

function segment(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The stateless form: about 520 characters, also `.`, `-` and `_`. `now` and `expiresAt` are milliseconds. */
export function newStatelessInstallationToken(
  facts: { readonly appId: number; readonly installationId: number; readonly now: number; readonly expiresAt: number },
  key: KeyObject,
): string {
  const header = segment({ alg: 'RS256', typ: 'JWT' })
  const claims = segment({
    iss: String(facts.appId),
    sub: String(facts.installationId),
    iat: Math.floor(facts.now / 1000),
    exp: Math.floor(facts.expiresAt / 1000),
    jti: randomText(16),
  })
  const signature = sign('RSA-SHA256', Buffer.from(`${header}.${claims}`), key).toString('base64url')
  return `ghs_${facts.appId}_${header}.${claims}.${signature}`
}

/** The key under which a credential is stored. */
export function credentialKey(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
