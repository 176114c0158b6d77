// What data-services reports, in the audit log: on a real API server as the controllers' ServiceAccount, and before the objects
// are gone. The test is the process data-services, with its ServiceAccount.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bucket } from '../../src/api/services/bucket.ts'
import { serviceBinding } from '../../src/api/services/service-binding.ts'
import { bindingFinalizer, bucketFinalizer, recordFinalizer } from '../../src/api/services/service-finalizers.ts'
import { serviceInstance } from '../../src/api/services/service-instance.ts'
import { createServiceRecordControllers } from '../../src/controllers/service-records/index.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { addFinalizer, removeFinalizer } from '../../src/kube/object/finalizers.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { AuditLog } from '../../src/store/audit/audit-log.ts'
import { gone, restrictedTo } from '../fixtures/application-fixture.ts'
import { openTestStore, type TestStore } from '../fixtures/databases.ts'
import { withNamespace } from '../fixtures/harness.ts'
import { withAdminKube } from '../fixtures/kube-access.ts'
import { startManager } from '../fixtures/open-manager.ts'
import { giveRightsIn, withClientOf } from '../fixtures/process-clients.ts'

const fieldManager = 'test'
const time = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

let store: TestStore
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' })
})
afterAll(() => store?.close())

type Log = Pick<AuditLog, 'appendOnce' | 'list'>

async function running(audit: Log = store.audit) {
  const { name: namespace } = await withNamespace()
  await giveRightsIn(namespace, 'application')
  const client = await withAdminKube()
  const dataServices = await withClientOf('sekisho-data-services')
  const own = restrictedTo(await withClientOf('sekisho-controllers'), namespace)
  const start = async (log: Log): Promise<() => Promise<void>> => {
    const { stop } = await startManager(own, ({ manager }) => [...createServiceRecordControllers({ manager, audit: log })])
    onTestFinished(stop)
    return stop
  }
  const stop = await start(audit)
  const key = { namespace, name: 'shop' }
  const { apiVersion, kind } = serviceBinding
  const spec = { service: { kind: 'ServiceInstance' as const, name: 'db' } }
  await client.apply(serviceBinding, { apiVersion, kind, metadata: key, spec }, { fieldManager })
  const read = async () => (await client.get(serviceBinding, key)) ?? expect.fail('there is no ServiceBinding')
  await addFinalizer(dataServices, serviceBinding, await read(), bindingFinalizer)
  return {
    ...{ client, dataServices, key, namespace, start, stop, read },
    report: (status: object) =>
      dataServices.applyStatus(serviceBinding, { apiVersion, kind, metadata: key, status }, { fieldManager, force: true }),
    async end() {
      await removeFinalizer(dataServices, serviceBinding, await read(), bindingFinalizer)
    },
    entries: async () =>
      (await store.audit.list({ namespace, limit: 100 })).map(({ action, outcome, details }) => {
        return `${action} ${details['slot']} ${outcome}`
      }),
  }
}

const first = { slot: 'a', issuedAt: time(1) }
const second = { slot: 'b', issuedAt: time(2) }
const finalizersOf = async (client: KubeClient, key: { namespace: string; name: string }) =>
  (await client.get(serviceBinding, key))?.metadata.finalizers ?? []

describe('credentials', () => {
  test('issued, replaced and revoked, each once, also by another process; the object goes when the log has its end', async () => {
    const on = await running()
    await on.report({ slots: [{ ...first, state: 'Delivered' }] })
    await waitUntil('the first record', async () => (await on.entries()).length === 1 || undefined)
    await on.stop()
    await on.report({
      slots: [
        { ...first, state: 'Draining', until: time(9) },
        { ...second, state: 'Delivered' },
      ],
    })
    await on.start(store.audit)
    await waitUntil('three records', async () => (await on.entries()).length === 3 || undefined)
    await on.client.delete(serviceBinding, on.key)
    await on.report({ slots: [], ended: [second, first].map(one => ({ ...one, endedAt: time(5) })) })
    await on.end()
    await gone(on.client, serviceBinding, on.key)
    expect((await on.entries()).toSorted()).toEqual([
      'credential.issued a allowed',
      'credential.issued b allowed',
      'credential.replaced a allowed',
      'credential.revoked a allowed',
      'credential.revoked b allowed',
    ])
  })

  test('while the log cannot be written the object stays, and is recorded later', async () => {
    let isAway = false
    const failing: Log = {
      list: store.audit.list,
      appendOnce: (...given) => (isAway ? Promise.reject(new Error('the log is away')) : store.audit.appendOnce(...given)),
    }
    const on = await running(failing)
    await waitUntil('the finalizer', async () => (await finalizersOf(on.client, on.key)).includes(recordFinalizer) || undefined)
    isAway = true
    await on.report({ slots: [{ ...first, state: 'Delivered' }] })
    await on.client.delete(serviceBinding, on.key)
    await on.report({ slots: [], ended: [{ ...first, endedAt: time(5) }] })
    await on.end()
    expect(await finalizersOf(on.client, on.key)).toEqual([recordFinalizer])
    expect(await on.entries()).toEqual([])
    isAway = false
    await gone(on.client, serviceBinding, on.key)
    expect((await on.entries()).toSorted()).toEqual(['credential.issued a allowed', 'credential.revoked a allowed'])
  })
})

test('an instance of which nothing was made is gone without a record', async () => {
  const on = await running()
  const { apiVersion, kind } = serviceInstance
  const key = { namespace: on.namespace, name: 'db' }
  await on.client.apply(serviceInstance, { apiVersion, kind, metadata: key, spec: { class: 'absent' } }, { fieldManager })
  await waitUntil(
    'the finalizer',
    async () => (await on.client.get(serviceInstance, key))?.metadata.finalizers?.includes(recordFinalizer) || undefined,
  )
  await on.client.delete(serviceInstance, key)
  await gone(on.client, serviceInstance, key)
  expect(await on.entries()).toEqual([])
})

test('a bucket that was made and kept is recorded, and goes when the log has its end', async () => {
  const { client, dataServices, namespace, entries } = await running()
  const { apiVersion, kind } = bucket
  const key = { namespace, name: 'pictures' }
  await client.apply(bucket, { apiVersion, kind, metadata: key, spec: { class: 'absent' } }, { fieldManager })
  const read = async () => (await client.get(bucket, key)) ?? expect.fail('there is no Bucket')
  await addFinalizer(dataServices, bucket, await read(), bucketFinalizer)
  const provisioned = { type: 'Provisioned', status: 'True', reason: 'Provisioned', message: 'x' }
  const conditions = [{ ...provisioned, lastTransitionTime: time(0), observedGeneration: 1 }]
  const report = (more: object = {}) => {
    const status = { externalId: 'b1', bucket: 'b1', plan: 'small', conditions, ...more }
    return dataServices.applyStatus(bucket, { apiVersion, kind, metadata: key, status }, { fieldManager, force: true })
  }
  await report()
  await waitUntil('its record', async () => (await entries()).length === 1 || undefined)
  await client.delete(bucket, key)
  await report({ end: 'Kept' })
  await removeFinalizer(dataServices, bucket, await read(), bucketFinalizer)
  await gone(client, bucket, key)
  const records = await store.audit.list({ namespace, limit: 100 })
  expect(records.map(({ action, object }) => `${action} ${object}`).toSorted()).toEqual([
    `service.kept Bucket/${namespace}/pictures`,
    `service.provisioned Bucket/${namespace}/pictures`,
  ])
  expect(records[0]?.details).toMatchObject({ class: 'absent', plan: 'small', bucket: 'b1' })
})
