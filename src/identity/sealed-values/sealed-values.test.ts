// What is sealed opens in its place and nowhere else, and only with the private key.
import { describe, expect, test } from 'vitest'
import { SecretString } from '../../lib/secret-string.ts'
import { claimedKeyId, makeOpeningKey, openingKeyOf } from './open.ts'
import { sealerOf } from './seal.ts'

const now = new Date('2026-01-02T03:04:05Z')
const key = await openingKeyOf(await makeOpeningKey(now))
const other = await openingKeyOf(await makeOpeningKey(now))
const seal = await sealerOf(key.publicKey)
const place = { namespace: 'acme', name: 'shop', key: 'DATABASE_URL' }
const secret = new SecretString('postgres://shop:hunter2@db/shop ümlaut')

describe('a sealed value', () => {
  test('opens in its place', async () => {
    const sealed = await seal(secret, place)
    expect(sealed).toMatch(/^eyJ[\w-]+(\.[\w-]*){4}$/)
    expect((await key.open(sealed, place))?.reveal()).toBe(secret.reveal())
    expect(claimedKeyId(sealed)).toBe(key.id)
  })

  test.each([
    ['in another namespace', { ...place, namespace: 'globex' }],
    ['in another AppSecret', { ...place, name: 'other' }],
    ['under another name', { ...place, key: 'OTHER' }],
  ])('does not open %s', async (_where, elsewhere) => {
    expect(await key.open(await seal(secret, place), elsewhere)).toBeUndefined()
  })

  test('does not open with another key, nor when any part of it was altered', async () => {
    const sealed = await seal(secret, place)
    expect(await other.open(sealed, place)).toBeUndefined()
    const parts = sealed.split('.')
    for (const [index, part] of parts.entries()) {
      const first = part.startsWith('A') ? 'B' : 'A'
      const altered = parts.with(index, `${first}${part.slice(1)}`).join('.')
      expect(await key.open(altered, place)).toBeUndefined()
    }
  })

  test('does not open by an algorithm that its header chooses', async () => {
    const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid: key.id })).toString('base64url')
    expect(await key.open(`${header}.${(await seal(secret, place)).split('.').slice(1).join('.')}`, place)).toBeUndefined()
    for (const text of ['', 'eyJ', 'plain text', '....', 'x'.repeat(50_000)]) {
      expect(await key.open(text, place)).toBeUndefined()
      expect(claimedKeyId(text)).toBeUndefined()
    }
  })

  test('is different each time and does not show the value, nor does the key show its private part', async () => {
    const [first, second] = [await seal(secret, place), await seal(secret, place)]
    expect(first).not.toBe(second)
    expect(Buffer.from(first.replaceAll('.', ''), 'base64url').toString('latin1')).not.toContain('hunter2')
    expect(JSON.parse(key.publicKey)).not.toHaveProperty('d')
    expect(JSON.stringify(await makeOpeningKey(now))).toBe('"[secret]"')
  })
})

test('a key is read back as it was stored; anything else is refused', async () => {
  const stored = await makeOpeningKey(now)
  const [one, two] = [await openingKeyOf(stored), await openingKeyOf(stored)]
  expect([one.id, one.madeAt]).toEqual([two.id, now])
  const sealed = await (await sealerOf(one.publicKey))(secret, place)
  expect((await two.open(sealed, place))?.reveal()).toBe(secret.reveal())
  for (const text of ['', '{}', '{"jwk":{}}'])
    await expect(openingKeyOf(new SecretString(text))).rejects.toMatchObject({ code: 'integrity_violation' })
  for (const text of ['', '{}', '{"kid":"x"}', JSON.stringify({ ...JSON.parse(key.publicKey), d: 'x' })])
    await expect(sealerOf(text)).rejects.toMatchObject({ code: 'invalid_configuration' })
})
