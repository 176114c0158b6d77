// What tenants may write does not fill the memory of the platform, although it caches objects of all namespaces: many large
// objects under the platform's own labels, on a real API server.
import { expect, onTestFinished, test } from 'vitest'
import { configMaps, deployments } from '../../src/api/builtin/index.ts'
import { labels } from '../../src/api/names.ts'
import type { ResourceType } from '../../src/api/resource.ts'
import { createApplicationController } from '../../src/controllers/application/index.ts'
import { createTenantController } from '../../src/controllers/tenant/index.ts'
import { createManager } from '../../src/kube/manager.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { memoryInUse } from '../../src/lib/testing/memory-in-use.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { withKube } from '../fixtures/kube-access.ts'
import { narrowed } from '../fixtures/test-clients.ts'

const megabyte = 1024 * 1024
const large = 'x'.repeat(900 * 1024)

function heapMegabytes(): number {
  return memoryInUse().heapUsed / megabyte
}

function deployment(namespace: string, name: string) {
  const container = { name: 'main', image: 'registry.example/nothing', env: [{ name: 'LARGE', value: large }] }
  const template = { metadata: { labels: { app: name } }, spec: { containers: [container] } }
  const spec = { replicas: 0, selector: { matchLabels: { app: name } }, template }
  const metadata = { name, namespace, labels: { [labels.application]: name } }
  return { apiVersion: deployments.apiVersion, kind: deployments.kind, metadata, spec }
}

test('a hundred megabytes of ConfigMaps and Deployments with our labels are not in memory, and the caches fill', async () => {
  const { client, namespace } = await withKube()
  const create = (
    type: ResourceType,
    object: { readonly apiVersion: string; readonly kind: string; readonly metadata: object },
  ) => client.create(type, object as never, { fieldManager: 'tenant' })
  const configMap = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { [labels.tenant]: 'mallory' } },
    data: { large },
  })
  for (let made = 0; made < 90; made += 10)
    await Promise.all(Array.from({ length: 10 }, (_, at) => create(configMaps, configMap(`flood-${made + at}`))))
  await Promise.all(Array.from({ length: 20 }, (_, at) => create(deployments, deployment(namespace, `flood-${at}`))))

  // The objects of other test files do not count.
  const own = narrowed(client, (type, options) => ({
    ...options,
    ...(type.namespaced && options.namespace === undefined ? { namespace } : {}),
  }))
  const manager = createManager({ client: own, log: silentLog, clock: systemClock, random: Math.random })
  // The kinds of ours are not installed in every test run; they are not what is measured.
  const builtIn = {
    ...manager,
    client: own,
    cache: ((type: ResourceType, scope: object) =>
      type.apiVersion.includes('sekisho.dev') ? { addIndex: () => {} } : manager.cache(type, scope)) as typeof manager.cache,
  }
  const before = heapMegabytes()
  const deps = {
    manager: builtIn,
    events: { record: () => {} },
    platformNamespace: 'kube-public',
    renderer: {},
    ingress: {},
    registry: {},
  }
  createTenantController(deps as never)
  const application = createApplicationController(deps as never)
  await manager.start()
  onTestFinished(() => manager.stop())
  expect(manager.cache(deployments, { labelSelector: labels.application }).list(namespace)).toHaveLength(20)
  expect(application.name).toBe('application')
  // What was read is released over several turns.
  await waitUntil('the memory to be free again', seen => seen(heapMegabytes() - before) < 10, { everyMilliseconds: 1000 })
})
