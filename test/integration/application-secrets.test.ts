// An Application that uses AppSecrets, on a real API server: a missing one is named, the running version keeps serving, and its
// pods are replaced exactly when a value that it uses changed. The status of AppSecrets is set here;
// test/integration/app-secret.test.ts proves their controller.
import { expect, test } from 'vitest'
import { appSecret } from '../../src/api/apps/app-secret.ts'
import { application } from '../../src/api/apps/application.ts'
import { deployments } from '../../src/api/builtin/index.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { makeChart, startApplicationController, withCharts } from '../fixtures/application-controller.ts'
import { chartOf, type Fixture, readyReason, withFixture } from '../fixtures/application-fixture.ts'

const fieldManager = 'test'
const image = `registry.example.com/acme/shop@sha256:${'1'.repeat(64)}`

const renderer = withCharts()

async function running(): Promise<Fixture> {
  const fixture = await withFixture()
  await makeChart(fixture, { builtIn: 'web' })
  await startApplicationController(fixture, renderer)
  return fixture
}

/** An AppSecret as its controller reports it. */
async function stored({ client, namespace }: Fixture, name: string, version: number, keys: Readonly<Record<string, number>>) {
  const { apiVersion, kind } = appSecret
  const metadata = { namespace, name }
  await client.apply(appSecret, { apiVersion, kind, metadata, spec: {} }, { fieldManager })
  const changedAt = '2026-01-01T00:00:00Z'
  const status = { version, keys: Object.entries(keys).map(([key, changed]) => ({ name: key, version: changed, changedAt })) }
  await client.applyStatus(appSecret, { apiVersion, kind, metadata, status }, { fieldManager })
}

test('pods are replaced exactly when a value that they use changed', async () => {
  const on = await running()
  const { client, namespace } = on
  const { apiVersion, kind } = application
  const spec = {
    chart: chartOf(namespace),
    image,
    processes: [{ name: 'web', port: 3000, replicas: 0 }],
    envFrom: [{ secret: 'shop' }],
    env: [{ name: 'PGURL', from: { secret: { name: 'database', key: 'URL' } } }],
  }
  await client.apply(application, { apiVersion, kind, metadata: { namespace, name: 'shop' }, spec }, { fieldManager })
  const refused = await readyReason(client, application, { namespace, name: 'shop' }, 'SecretNotFound')
  expect(refused.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
    'spec.env[PGURL].from.secret: there is no AppSecret database',
  )

  await stored(on, 'database', 1, { OTHER: 1 })
  await stored(on, 'shop', 1, { A: 1 })
  await waitUntil('the missing key is named', async () => {
    const found = await client.get(application, { namespace, name: 'shop' })
    const message = found?.status?.conditions?.find(({ type }) => type === 'Ready')?.message
    return message?.includes('AppSecret database has no key URL') || undefined
  })

  await stored(on, 'database', 2, { OTHER: 1, URL: 2 })
  await readyReason(client, application, { namespace, name: 'shop' }, 'Available')
  const template = async () => {
    const deployment = await client.get(deployments, { namespace, name: 'shop-web' })
    return deployment?.spec?.template as unknown as {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> }
      readonly spec: { readonly containers: readonly [{ readonly envFrom: unknown; readonly env: unknown }] }
    }
  }
  const [container] = (await template()).spec.containers
  expect(container.envFrom).toEqual([{ secretRef: { name: 'appsecret-shop' } }])
  expect(container.env).toContainEqual({
    name: 'PGURL',
    valueFrom: { secretKeyRef: { name: 'appsecret-database', key: 'URL' } },
  })
  const annotation = async () => (await template()).metadata.annotations['sekisho.dev/secrets']
  const first = await annotation()

  // Another key of the one, and then a key of the other: the order shows that the first change replaced nothing.
  await stored(on, 'database', 3, { OTHER: 3, URL: 2 })
  await client.mergePatch(
    application,
    { namespace, name: 'shop' },
    { spec: { processes: [{ ...spec.processes[0], port: 3001 }] } },
    { fieldManager },
  )
  await readyReason(client, application, { namespace, name: 'shop' }, 'Available')
  expect(await annotation()).toBe(first)
  await stored(on, 'shop', 2, { A: 2 })
  await waitUntil('another annotation', async () => !((await annotation()) === first))

  await client.delete(appSecret, { namespace, name: 'database' })
  const gone = await readyReason(client, application, { namespace, name: 'shop' }, 'SecretNotFound')
  expect(gone.status).toMatchObject({ image })
  expect(gone.status?.conditions?.find(({ type }) => type === 'Available')?.status).toBe('True')
})
