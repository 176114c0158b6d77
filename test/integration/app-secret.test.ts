// AppSecrets on a real API server: the controller, as its ServiceAccount, opens sealed values and keeps the Secret behind them.
// The values are sealed here as admission does it; test/attack/app-secrets.test.ts proves admission itself.
import { expect, onTestFinished, test } from 'vitest'
import { type AppSecret, appSecret } from '../../src/api/apps/app-secret.ts'
import { configMaps, secrets } from '../../src/api/builtin/index.ts'
import { createAppSecretController } from '../../src/controllers/app-secret/index.ts'
import { claimedKeyId, makeOpeningKey, openingKeyOf } from '../../src/identity/sealed-values/open.ts'
import { sealerOf } from '../../src/identity/sealed-values/seal.ts'
import type { SecretKeys } from '../../src/identity/sealed-values/secret-keys.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { buildSecretName, createBuildSecrets } from '../../src/services/builds/build-secrets.ts'
import { type Fixture, readyReason, withFixture } from '../fixtures/application-fixture.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { startManager } from '../fixtures/open-manager.ts'

const fieldManager = 'test'
const former = await openingKeyOf(await makeOpeningKey(new Date()))
const current = await openingKeyOf(await makeOpeningKey(new Date()))
const sealers = { former: await sealerOf(former.publicKey), current: await sealerOf(current.publicKey) }

const keys: SecretKeys = {
  async open(sealed, place) {
    const id = claimedKeyId(sealed)
    const value = await [former, current].find(key => key.id === id)?.open(sealed, place)
    return value && { value, isCurrent: id === current.id }
  },
  seal: sealers.current,
}

async function running() {
  const fixture = await withFixture()
  const { stop } = await startManager(fixture.controllersClient, parts => [createAppSecretController({ ...parts, keys })])
  onTestFinished(stop)
  return fixture
}

type By = keyof typeof sealers

/** Sets and removes values as a person does by way of admission. */
async function set(
  on: Fixture,
  name: string,
  values: Readonly<Record<string, string | null>>,
  by: By = 'current',
): Promise<void> {
  const { client, namespace } = on
  const entries = Object.entries(values).map(async ([key, value]) => {
    const place = { namespace, name, key }
    return [key, value === null ? null : await sealers[by](new SecretString(value), place)] as const
  })
  const spec = { sealed: Object.fromEntries(await Promise.all(entries)) }
  const { apiVersion, kind } = appSecret
  if ((await client.mergePatch(appSecret, { namespace, name }, { spec }, { fieldManager })) === undefined)
    await client.apply(appSecret, { apiVersion, kind, metadata: { namespace, name }, spec }, { fieldManager })
}

const ready = (on: Fixture, name: string, reason = 'Stored'): Promise<AppSecret> =>
  readyReason(on.client, appSecret, { namespace: on.namespace, name }, reason)

const versionsOf = ({ status }: AppSecret) => ({
  version: status?.version,
  ...Object.fromEntries((status?.keys ?? []).map(({ name, version }) => [name, version])),
})

async function dataOf({ client, namespace }: Fixture, name: string): Promise<Readonly<Record<string, string>> | undefined> {
  const secret = await client.get(secrets, { namespace, name: `appsecret-${name}` })
  const data = Object.entries(secret?.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')])
  return secret && Object.fromEntries(data)
}

test('values reach the Secret for pods; versions change exactly when values do', async () => {
  const on = await running()
  await set(on, 'shop', { URL: 'postgres://a', TOKEN: 'ü' })
  const first = await ready(on, 'shop')
  expect(await dataOf(on, 'shop')).toEqual({ URL: 'postgres://a', TOKEN: 'ü' })
  expect(versionsOf(first)).toEqual({ version: 1, URL: 1, TOKEN: 1 })
  expect(JSON.stringify(first)).not.toContain('postgres')

  await set(on, 'shop', { URL: 'postgres://b' })
  const second = await ready(on, 'shop')
  expect(versionsOf(second)).toEqual({ version: 2, URL: 2, TOKEN: 1 })
  expect(second.status?.keys?.find(({ name }) => name === 'TOKEN')?.changedAt).toBe(
    first.status?.keys?.find(({ name }) => name === 'TOKEN')?.changedAt,
  )

  const writes = on.writes.length
  await set(on, 'shop', { URL: 'postgres://b', TOKEN: 'ü' })
  expect(versionsOf(await ready(on, 'shop'))).toEqual({ version: 2, URL: 2, TOKEN: 1 })
  // The status, for its observedGeneration, and no Secret.
  expect(on.writes.slice(writes).filter(write => !write.startsWith('status'))).toEqual([])

  await set(on, 'shop', { TOKEN: null, NEW: '' })
  expect(versionsOf(await ready(on, 'shop'))).toEqual({ version: 3, URL: 2, NEW: 3 })
  expect(await dataOf(on, 'shop')).toEqual({ URL: 'postgres://b', NEW: '' })
})

test('a value that was moved or that no key opens changes nothing for pods, and is named', async () => {
  const on = await running()
  await set(on, 'shop', { A: 'one' })
  const { spec } = await ready(on, 'shop')
  const moved = { sealed: { B: spec.sealed['A'] } }
  await on.client.mergePatch(appSecret, { namespace: on.namespace, name: 'shop' }, { spec: moved }, { fieldManager })
  const refused = await ready(on, 'shop', 'Unreadable')
  expect(refused.status?.conditions?.[0]?.message).toContain('cannot be decrypted: B.')
  expect(versionsOf(refused)).toEqual({ version: 1, A: 1 })
  expect(await dataOf(on, 'shop')).toEqual({ A: 'one' })
  await set(on, 'shop', { B: null })
  expect(versionsOf(await ready(on, 'shop'))).toEqual({ version: 1, A: 1 })
})

test('values that a former key sealed are sealed again, and restart nothing', async () => {
  const on = await running()
  await set(on, 'shop', { A: 'one', B: 'two' }, 'former')
  const sealed = await waitUntil('sealed to the current key', async () => {
    const found = await on.client.get(appSecret, { namespace: on.namespace, name: 'shop' })
    const ids = Object.values(found?.spec.sealed ?? {}).map(claimedKeyId)
    return ids.length === 2 && ids.every(id => id === current.id) ? found : undefined
  })
  expect((await current.open(sealed.spec.sealed['A'] ?? '', { namespace: on.namespace, name: 'shop', key: 'A' }))?.reveal()).toBe(
    'one',
  )
  expect(versionsOf(await ready(on, 'shop'))).toEqual({ version: 1, A: 1, B: 1 })
})

test('a Secret of another maker is left alone', async () => {
  const on = await running()
  const { client, namespace } = on
  const { apiVersion, kind } = secrets
  const metadata = { namespace, name: 'appsecret-shop' }
  await client.create(secrets, { apiVersion, kind, metadata, data: { A: 'eA==' } }, { fieldManager })
  await set(on, 'shop', { A: 'mine' })
  const refused = await ready(on, 'shop', 'NameTaken')
  expect(versionsOf(refused)).toEqual({ version: 0 })
  await client.delete(appSecret, { namespace, name: 'shop' })
  await waitUntil('gone', async () => (await client.get(appSecret, { namespace, name: 'shop' })) === undefined)
  expect(await dataOf(on, 'shop')).toEqual({ A: 'x' })
})

test.each(['Background', 'Orphan'])('the Secret goes with the AppSecret: %s', async propagationPolicy => {
  const on = await running()
  const { client, namespace } = on
  await set(on, 'shop', { A: 'one' })
  await ready(on, 'shop')
  const admin = await testAdmin()
  await admin.call('DELETE', `/apis/apps.sekisho.dev/v1alpha1/namespaces/${namespace}/appsecrets/shop`, { propagationPolicy })
  await waitUntil('the Secret is gone', async () => (await dataOf(on, 'shop')) === undefined)
  await waitUntil('gone', async () => (await client.get(appSecret, { namespace, name: 'shop' })) === undefined)
})

test('a build gets the values that it names, for as long as its owner lives', async () => {
  const on = await running()
  const { client, controllersClient, namespace } = on
  await set(on, 'shop', { A: 'one', B: 'two' })
  await set(on, 'npm', { B: 'later wins' })
  await ready(on, 'shop')
  await ready(on, 'npm')
  const { apiVersion, kind } = configMaps
  const build = await client.create(configMaps, { apiVersion, kind, metadata: { namespace, name: 'build' } }, { fieldManager })
  const owner = { apiVersion, kind, name: 'build', uid: build.metadata.uid ?? '' }
  const buildSecrets = createBuildSecrets({ client: controllersClient })
  const request = { key: { namespace, name: 'b1' }, namespace, names: ['shop', 'npm'], owner, entries: { type: 'env' } }
  expect(await buildSecrets.provide(request)).toEqual({ kind: 'provided', secretName: 'build-secrets-b1', keys: ['A', 'B'] })
  const made = await client.get(secrets, { namespace, name: buildSecretName('b1') })
  const data = Object.entries(made?.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')])
  expect(Object.fromEntries(data)).toEqual({ A: 'one', B: 'later wins', type: 'env' })
  expect(await buildSecrets.provide({ ...request, names: ['absent'] })).toMatchObject({
    kind: 'missing',
    message: expect.stringContaining('there is no AppSecret absent'),
  })
  await client.delete(configMaps, { namespace, name: 'build' })
  await waitUntil('the garbage collector deletes it with the build', async () =>
    (await client.get(secrets, { namespace, name: buildSecretName('b1') })) ? undefined : true,
  )
  await buildSecrets.remove({ namespace, name: 'b1' })
})
