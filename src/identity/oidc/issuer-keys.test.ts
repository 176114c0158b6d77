import { expect, test } from 'vitest'
import { SecretString } from '../../lib/secret-string.ts'
import { signCheckpoint, verifyCheckpoint } from './audit-checkpoint.ts'
import { type KeyKeeper, loadIssuerKeys } from './issuer-keys.ts'

function keeper(): KeyKeeper & { readonly kept: Map<string, SecretString> } {
  const kept = new Map<string, SecretString>()
  return {
    kept,
    async getOrCreate(name, make) {
      const known = kept.get(name) ?? (await make())
      kept.set(name, known)
      return known
    },
  }
}
const issuer = 'https://sekisho.example.com'
const head = { sequence: 7, hash: 'a'.repeat(64) }
const setOf = (keys: Awaited<ReturnType<typeof loadIssuerKeys>>) => ({ keys: [...keys.publicKeys.keys] })

test('two keys are published, the next one before it signs, and no private part', async () => {
  const place = keeper()
  const keys = await loadIssuerKeys(place)
  expect(keys.publicKeys.keys).toHaveLength(2)
  expect(JSON.stringify(keys.publicKeys)).not.toContain('"d"')
  expect((await loadIssuerKeys(place)).publicKeys).toEqual(keys.publicKeys)
})

test('a checkpoint verifies with our keys, and with no others, for no other issuer, in no other shape', async () => {
  const keys = await loadIssuerKeys(keeper())
  const statement = await signCheckpoint(keys, issuer, head)
  expect(await verifyCheckpoint(statement, setOf(keys), issuer)).toEqual(head)
  const others = await loadIssuerKeys(keeper())
  await expect(verifyCheckpoint(statement, setOf(others), issuer)).rejects.toThrow('does not hold')
  await expect(verifyCheckpoint(statement, setOf(keys), 'https://other.example')).rejects.toThrow('does not hold')
  const idToken = await keys.sign({ iss: issuer, sequence: 7, hash: 'x' }, 'JWT')
  await expect(verifyCheckpoint(idToken, setOf(keys), issuer)).rejects.toThrow('does not hold')
})

test('stored keys that are no keys are an integrity violation, not new keys', async () => {
  const place = keeper()
  place.kept.set('oidc-signing-keys', new SecretString('[{"kty":"EC"}]'))
  await expect(loadIssuerKeys(place)).rejects.toMatchObject({ code: 'integrity_violation' })
})
