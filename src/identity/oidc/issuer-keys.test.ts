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
const loadIssuerKeys = (place: KeyKeeper, clock = systemClock) => load(place, clock, fail)
const issuer = 'https://sekisho.example.com'
const head = { sequence: 7, hash: 'a'.repeat(64) }
const setOf = (keys: Awaited<ReturnType<typeof loadIssuerKeys>>) => ({ keys: [...keys.publicKeys.keys] })

test('three keys are published: the one that signs, the next and the one before, and no private part', async () => {
  const place = keeper()
  const keys = await loadIssuerKeys(place)
  expect(keys.publicKeys.keys).toHaveLength(3)
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

const day = 24 * 3_600_000
const movable = (start: string) => {
  let now = Date.parse(start)
  return { clock: { ...systemClock, now: () => new Date(now) }, advance: (days: number) => (now += days * day) }
}

test('a new period signs with the key that was published before, and what the old key signed still verifies', async () => {
  const { clock, advance } = movable('2026-01-01T00:00:00Z')
  const keys = await loadIssuerKeys(keeper(), clock)
  const [signing, next] = keys.publicKeys.keys
  const statement = await signCheckpoint(keys, issuer, head)
  advance(90)
  const later = await signCheckpoint(keys, issuer, head)
  expect(keys.publicKeys.keys.map(({ kid }) => kid)).toEqual([next?.kid, expect.any(String), signing?.kid])
  expect(await verifyCheckpoint(statement, setOf(keys), issuer)).toEqual(head)
  expect(await verifyCheckpoint(later, setOf(keys), issuer)).toEqual(head)
  advance(90)
  await keys.period()
  await expect(verifyCheckpoint(statement, setOf(keys), issuer)).rejects.toThrow('does not hold')
})

test('while the keys of a new period cannot be had the present ones stay, and are changed when they can', async () => {
  const { clock, advance } = movable('2026-01-01T00:00:00Z')
  const place = keeper()
  const problems: unknown[] = []
  let away = false
  const shaky: KeyKeeper = {
    getOrCreate: (name, make) => (away ? Promise.reject(new Error('away')) : place.getOrCreate(name, make)),
  }
  const keys = await load(shaky, clock, problem => problems.push(problem))
  const before = await keys.period()
  advance(90)
  away = true
  expect(await keys.period()).toBe(before)
  expect(problems).toHaveLength(1)
  away = false
  expect(await keys.period()).toBe(before + 1)
})

test('a stored key that is no key is an integrity violation, not a new key', async () => {
  const place = keeper()
  await loadIssuerKeys(place)
  for (const name of place.kept.keys())
    if (name.startsWith('oidc-signing-key-')) place.kept.set(name, new SecretString('{"kty":"EC"}'))
  await expect(loadIssuerKeys(place)).rejects.toMatchObject({ code: 'integrity_violation' })
})
