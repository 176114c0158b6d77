import { expect, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { signCheckpoint, verifyCheckpoint } from './audit-checkpoint.ts'
import { type KeyKeeper, loadIssuerKeys as load } from './issuer-keys.ts'

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
const fail = (error: unknown): never => {
  throw error
}
const loadIssuerKeys = (keyKeeper: KeyKeeper, clock = systemClock) => load(keyKeeper, clock, fail)
const issuer = 'https://sekisho.example.com'
const head = { sequence: 7, hash: 'a'.repeat(64) }
const setOf = (keys: Awaited<ReturnType<typeof loadIssuerKeys>>) => ({ keys: [...keys.publicKeys.keys] })

test('three keys are published: the signing key, the next and the former, and no private part', async () => {
  const keyKeeper = keeper()
  const keys = await loadIssuerKeys(keyKeeper)
  expect(keys.publicKeys.keys).toHaveLength(3)
  expect(JSON.stringify(keys.publicKeys)).not.toContain('"d"')
  expect((await loadIssuerKeys(keyKeeper)).publicKeys).toEqual(keys.publicKeys)
})

test('a checkpoint verifies with our keys only, for our issuer only, and with its own type only', async () => {
  const keys = await loadIssuerKeys(keeper())
  const statement = await signCheckpoint(keys, issuer, head)
  expect(await verifyCheckpoint(statement, setOf(keys), issuer)).toMatchObject(head)
  const others = await loadIssuerKeys(keeper())
  await expect(verifyCheckpoint(statement, setOf(others), issuer)).rejects.toThrow('is not valid')
  await expect(verifyCheckpoint(statement, setOf(keys), 'https://other.example')).rejects.toThrow('is not valid')
  const idToken = await keys.sign({ iss: issuer, sequence: 7, hash: 'x' }, 'JWT')
  await expect(verifyCheckpoint(idToken, setOf(keys), issuer)).rejects.toThrow('is not valid')
})

const day = 24 * 3_600_000
const movable = (start: string) => {
  let now = Date.parse(start)
  return { clock: { ...systemClock, now: () => new Date(now) }, advance: (days: number) => (now += days * day) }
}

test('a new period signs with the key that was published in advance, and signatures of the former key still verify', async () => {
  const { clock, advance } = movable('2026-01-01T00:00:00Z')
  const keys = await loadIssuerKeys(keeper(), clock)
  const [signing, next] = keys.publicKeys.keys
  const statement = await signCheckpoint(keys, issuer, head)
  advance(90)
  const later = await signCheckpoint(keys, issuer, head)
  expect(keys.publicKeys.keys.map(({ kid }) => kid)).toEqual([next?.kid, expect.any(String), signing?.kid])
  expect(await verifyCheckpoint(statement, setOf(keys), issuer)).toMatchObject(head)
  expect(await verifyCheckpoint(later, setOf(keys), issuer)).toMatchObject(head)
  advance(90)
  await keys.period()
  await expect(verifyCheckpoint(statement, setOf(keys), issuer)).rejects.toThrow('is not valid')
})

test('when the keys of a new period cannot be loaded, the present keys stay until they can', async () => {
  const { clock, advance } = movable('2026-01-01T00:00:00Z')
  const keyKeeper = keeper()
  const failures: unknown[] = []
  let unavailable = false
  const unreliable: KeyKeeper = {
    getOrCreate: (name, make) => (unavailable ? Promise.reject(new Error('unavailable')) : keyKeeper.getOrCreate(name, make)),
  }
  const keys = await load(unreliable, clock, failure => failures.push(failure))
  const before = await keys.period()
  advance(90)
  unavailable = true
  expect(await keys.period()).toBe(before)
  expect(failures).toHaveLength(1)
  unavailable = false
  expect(await keys.period()).toBe(before + 1)
})

test('a stored value that is not a key is an integrity violation and is not replaced', async () => {
  const keyKeeper = keeper()
  await loadIssuerKeys(keyKeeper)
  for (const name of keyKeeper.kept.keys())
    if (name.startsWith('oidc-signing-key-')) keyKeeper.kept.set(name, new SecretString('{"kty":"EC"}'))
  await expect(loadIssuerKeys(keyKeeper)).rejects.toMatchObject({ code: 'integrity_violation' })
})
