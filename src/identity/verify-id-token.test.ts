// Every way a token can be wrong, with real signatures.
import { calculateJwkThumbprint, exportJWK, generateKeyPair, generateSecret, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../lib/clock.ts'
import { createIdTokenVerifier } from './verify-id-token.ts'

async function makeKey() {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const publicJwk = await exportJWK(publicKey)
  const keyId = await calculateJwkThumbprint(publicJwk)
  return { privateKey, keyId, publicJwk: { ...publicJwk, kid: keyId, alg: 'ES256' } }
}

const key = await makeKey()
const stranger = await makeKey()
const issuer = 'https://10.88.0.1:8443'
const keySet = { keys: [key.publicJwk] }
const verifierAt = (clock: Clock) => createIdTokenVerifier({ issuer, audience: 'kubernetes', keySet: () => keySet, clock })
const verify = verifierAt(systemClock)

type Overrides = {
  readonly iss?: string
  readonly aud?: string
  readonly sub?: string
  readonly exp?: string
  readonly groups?: unknown
  readonly by?: typeof key
  readonly header?: object
}

async function token(overrides: Overrides = {}): Promise<string> {
  const by = overrides.by ?? key
  return await new SignJWT({ groups: overrides.groups ?? ['github|github.com|org|1|owners'], login: 'olivia' })
    .setProtectedHeader({ alg: 'ES256', kid: key.keyId, ...overrides.header })
    .setIssuer(overrides.iss ?? issuer)
    .setAudience(overrides.aud ?? 'kubernetes')
    .setSubject(overrides.sub ?? 'github|github.com|42')
    .setIssuedAt()
    .setExpirationTime(overrides.exp ?? '10m')
    .sign(by.privateKey)
}

describe('an ID token', () => {
  test('of our issuer identifies the person', async () => {
    await expect(verify(await token())).resolves.toMatchObject({
      subject: 'github|github.com|42',
      host: 'github.com',
      userId: 42,
      login: 'olivia',
      groups: ['github|github.com|org|1|owners'],
    })
  })

  test('loses groups that would be privileged', async () => {
    const { groups } = await verify(await token({ groups: ['system:masters', 'github|github.com|org|1|members'] }))
    expect(groups).toEqual(['github|github.com|org|1|members'])
  })

  const wrong: readonly (readonly [string, Overrides])[] = [
    ['is from another issuer', { iss: 'https://evil.test' }],
    ['is for another audience', { aud: 'other' }],
    ['does not name a person', { sub: 'system:admin' }],
    ['names an empty person', { sub: '' }],
    ['is signed by another key', { by: stranger }],
    ['names a key that is not ours', { header: { kid: 'x' } }],
    ['has groups that are not a list of texts', { groups: [1] }],
    ['has expired', { exp: '-1m' }],
  ]
  test.each(wrong)('that %s is refused', async (_name, overrides) => {
    await expect(verify(await token(overrides))).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('without signature, or with HMAC, is refused', async () => {
    const [, payload] = (await token()).split('.')
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`
    await expect(verify(none)).rejects.toMatchObject({ code: 'unauthenticated' })
    const hmac = await new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).sign(await generateSecret('HS256'))
    await expect(verify(hmac)).rejects.toMatchObject({ code: 'unauthenticated' })
    await expect(verify('x'.repeat(20_000))).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('expires by the clock of the options', async () => {
    const later: Clock = { ...systemClock, now: () => new Date(Date.now() + 11 * 60_000) }
    await expect(verifierAt(later)(await token())).rejects.toThrow('sekisho login')
  })
})
