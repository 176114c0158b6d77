// The keys for values of AppSecrets over years and replicas: the newest is published, and what a former one sealed still opens.
import { expect, test } from 'vitest'
import { sealerOf } from '../../identity/sealed-values/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import { openAppSecrets } from './open.ts'

const place = { namespace: 'acme', name: 'shop', key: 'A' }
const year = 365 * 86_400_000

/** A store of keys that replicas share, and the ConfigMap that they publish. */
function platform(clock: Clock) {
  const stored = new Map<string, SecretString>()
  const published: string[] = []
  const keys = {
    find: async (name: string) => stored.get(name),
    async getOrCreate(name: string, make: () => Promise<SecretString>) {
      const made = await make()
      if (!stored.has(name)) stored.set(name, made)
      return stored.get(name) ?? made
    },
  }
  const manager = {
    isLeader: () => true,
    cache: () => ({ get: () => (published.length === 0 ? undefined : { data: { 'key.json': published.at(-1) } }) }),
    client: {
      async apply(_type: object, object: { readonly data: { readonly 'key.json': string } }) {
        published.push(object.data['key.json'])
      },
    },
  }
  const open = (generation = 1) =>
    openAppSecrets({ store: { keys }, manager, clock, log: silentLog, generation } as unknown as Parameters<
      typeof openAppSecrets
    >[0])
  return { stored, published, open }
}

const sealed = async (publicKey: string) => (await sealerOf(publicKey))(new SecretString('one'), place)

test('replicas have one key, which the leader publishes once; a year later the next one, and values of both open', async () => {
  const clock = createFakeClock()
  const { stored, published, open } = platform(clock)
  const [first, second] = [await open(), await open()]
  expect([...stored.keys()]).toEqual(['app-secrets-key-1'])
  expect(second.publicKey()).toBe(first.publicKey())
  const old = await sealed(first.publicKey())
  expect(await second.keys.open(old, place)).toMatchObject({ isCurrent: true })

  await first.start()
  await waitUntil('the public key to be published', () => {
    expect(published).toEqual([first.publicKey()])
    return true
  })
  await clock.advance(20_000)
  expect(published).toHaveLength(1)
  clock.step(year)
  await clock.advance(5000)
  await waitUntil('the public key to be published again', seen => seen(published).length === 2)
  await first.stop()
  expect(published[1]).toBe(first.publicKey())
  expect(await first.keys.open(old, place)).toMatchObject({ isCurrent: false })
  const again = await first.keys.seal(new SecretString('one'), place)
  // The other replica did not know the new key until it met a value of it.
  expect((await second.keys.open(again, place))?.value.reveal()).toBe('one')
  expect(await second.keys.open(again, { ...place, key: 'B' })).toBeUndefined()
})

test('a raised generation makes the next key at the start', async () => {
  const { stored, open } = platform(createFakeClock())
  const before = await open()
  const after = await open(3)
  expect([...stored.keys()]).toEqual(['app-secrets-key-1', 'app-secrets-key-2', 'app-secrets-key-3'])
  expect(after.publicKey()).not.toBe(before.publicKey())
  expect((await after.keys.open(await sealed(before.publicKey()), place))?.isCurrent).toBe(false)
})
