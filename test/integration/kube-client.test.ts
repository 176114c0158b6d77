// The client, finalizers, conditions and Events against a real API server, on whose responses the runtime is built.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type ConfigMap,
  configMaps,
  deployments,
  events,
  namespaces,
  secrets,
  tokenReviews,
} from '../../src/api/builtin/index.ts'
import { fitsNoSchema, isGone, isKubeError } from '../../src/kube/client/errors.ts'
import { createEventRecorder } from '../../src/kube/object/events.ts'
import { addFinalizer, removeFinalizer } from '../../src/kube/object/finalizers.ts'
import { ownerReference } from '../../src/kube/object/owner.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { withKube } from '../fixtures/kube-access.ts'

const fieldManager = 'kube-test'
const finalizer = 'sekisho.dev/kube-test'

function configMap(namespace: string, name: string, data: Record<string, string> = {}, uid?: string) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, ...(uid ? { uid } : {}) }, data }
}

function deployment(namespace: string, name: string) {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example.invalid/none:1' }] } },
    },
  }
}

describe('reading and writing', () => {
  test('creates, reads, lists by label and field, and deletes; absent is undefined', async () => {
    const { client, namespace } = await withKube()
    const object = { ...configMap(namespace, 'one'), metadata: { namespace, name: 'one', labels: { color: 'red' } } }
    const created = await client.create(configMaps, object, { fieldManager })
    expect(created.metadata.uid).toBeTypeOf('string')
    await client.create(configMaps, configMap(namespace, 'two'), { fieldManager })
    const red = await client.list(configMaps, { namespace, labelSelector: 'color=red' })
    expect(red).toMatchObject([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } }])
    const two = await client.list(configMaps, { namespace, fieldSelector: 'metadata.name=two' })
    expect(two.map(item => item.metadata.name)).toEqual(['two'])
    await client.delete(configMaps, { namespace, name: 'one' })
    expect(await client.get(configMaps, { namespace, name: 'one' })).toBeUndefined()
    await client.delete(configMaps, { namespace, name: 'one' })
    expect(await client.mergePatch(configMaps, { namespace, name: 'one' }, { data: {} }, { fieldManager })).toBeUndefined()
  })

  test('reads all pages of a long list', async () => {
    const { client, namespace } = await withKube()
    const names = Array.from({ length: 510 }, (_, index) => `item-${String(index).padStart(3, '0')}`)
    for (let start = 0; start < names.length; start += 30) {
      const some = names.slice(start, start + 30)
      await Promise.all(some.map(name => client.create(configMaps, configMap(namespace, name), { fieldManager })))
    }
    const found = await client.list(configMaps, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' })
    expect(found.map(item => item.metadata.name).sort()).toEqual(names)
  })

  test('keeps fields that our types do not have', async () => {
    const { client, namespace } = await withKube()
    const key = { namespace, name: 'crd-like' }
    const object = deployment(namespace, key.name)
    await client.apply(deployments, { ...object, spec: { ...object.spec, minReadySeconds: 7 } }, { fieldManager })
    expect(await client.get(deployments, key)).toMatchObject({ spec: { minReadySeconds: 7, progressDeadlineSeconds: 600 } })
  })

  test('accepts cluster-wide names as they are, and refuses names that are paths', async () => {
    const { client, namespace } = await withKube()
    expect((await client.get(namespaces, { name: namespace }))?.metadata.name).toBe(namespace)
    await expect(client.get(configMaps, { namespace: '..', name: 'x' })).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(client.get(configMaps, { namespace, name: 'a/b' })).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(client.get(configMaps, { name: 'x' })).rejects.toThrow(/needs a namespace/)
  })

  test('a review is a create whose response has a status', async () => {
    const { client } = await withKube()
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token: 'not-a-token' } }
    const answer = await client.create(tokenReviews, review, { fieldManager })
    expect(answer.status?.authenticated ?? false).toBe(false)
  })

  test('a deletion on trial deletes nothing; one with a uid does not delete another object of that name, and succeeds for a namespace that is being deleted', async () => {
    const { client, namespace } = await withKube()
    const key = { namespace, name: 'again' }
    const first = await client.create(configMaps, configMap(namespace, 'again'), { fieldManager })
    await client.delete(configMaps, key, { dryRun: true })
    await client.delete(configMaps, key, { dryRun: true, uid: first.metadata.uid ?? '' })
    expect((await client.get(configMaps, key))?.metadata).toMatchObject({ uid: first.metadata.uid })
    expect((await client.get(configMaps, key))?.metadata.deletionTimestamp).toBeUndefined()
    await client.delete(configMaps, key)
    await client.create(configMaps, configMap(namespace, 'again', { second: 'yes' }), { fieldManager })
    await client.delete(configMaps, key, { uid: first.metadata.uid ?? '' })
    expect((await client.get(configMaps, key))?.data).toEqual({ second: 'yes' })
    await client.delete(namespaces, { name: namespace })
    await client.delete(namespaces, { name: namespace })
  })
})

describe('server-side apply', () => {
  test('removes fields that a manager no longer applies and keeps those of another manager', async () => {
    const { client, namespace } = await withKube()
    const key = { namespace, name: 'shared' }
    await client.apply(configMaps, configMap(namespace, 'shared', { mine: '1', old: '1' }), { fieldManager })
    await client.apply(configMaps, configMap(namespace, 'shared', { theirs: '1' }), { fieldManager: 'other' })
    await client.apply(configMaps, configMap(namespace, 'shared', { mine: '2' }), { fieldManager })
    expect((await client.get(configMaps, key))?.data).toEqual({ mine: '2', theirs: '1' })
  })

  test('a conflict is a 409 that names the field, and force resolves it', async () => {
    const { client, namespace } = await withKube()
    await client.apply(configMaps, configMap(namespace, 'fight', { a: '1' }), { fieldManager: 'other' })
    const fight = client.apply(configMaps, configMap(namespace, 'fight', { a: '2' }), { fieldManager })
    await expect(fight).rejects.toMatchObject({ status: 409, reason: 'Conflict', fields: ['.data.a'], retryable: false })
    const won = await client.apply(configMaps, configMap(namespace, 'fight', { a: '2' }), { fieldManager, force: true })
    expect(won.data).toEqual({ a: '2' })
  })

  test('a status is applied to the subresource, does not change the generation, and resolves to undefined for a deleted object', async () => {
    const { client, namespace } = await withKube()
    const created = await client.apply(deployments, deployment(namespace, 'web'), { fieldManager })
    const status = (uid?: string) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace, name: 'web', ...(uid ? { uid } : {}) },
      status: { conditions: [{ type: 'Seen', status: 'True', reason: 'Test', message: 'by us' }] },
    })
    const written = await client.applyStatus(deployments, status(created.metadata.uid), { fieldManager, force: true })
    expect(written?.status?.conditions?.map(condition => condition.type)).toContain('Seen')
    expect(written?.metadata.generation).toBe(created.metadata.generation)
    expect(await client.applyStatus(deployments, status(randomUUID()), { fieldManager, force: true })).toBeUndefined()
    await client.delete(deployments, { namespace, name: 'web' })
    await waitUntil('deletion', async () => ((await client.get(deployments, { namespace, name: 'web' })) ? undefined : true))
    expect(await client.applyStatus(deployments, status(), { fieldManager, force: true })).toBeUndefined()
    expect(await client.applyStatus(deployments, status(created.metadata.uid), { fieldManager, force: true })).toBeUndefined()
  })

  test('a field that the kind does not have is refused by name, and nothing is written', async () => {
    const { client, namespace } = await withKube()
    const object = deployment(namespace, 'misspelled')
    const writing = client.apply(deployments, { ...object, spec: { ...object.spec, replicaCount: 3 } }, { fieldManager })
    const error = await writing.catch((cause: unknown) => cause)
    expect(String(error)).toContain('.spec.replicaCount: field not declared in schema')
    expect(fitsNoSchema(error)).toBe(true)
    expect(await client.get(deployments, { namespace, name: 'misspelled' })).toBeUndefined()
  })

  test('an apply with a uid fails as gone when the object was deleted (409) or recreated (422)', async () => {
    const { client, namespace } = await withKube()
    const stale = configMap(namespace, 'ghost', {}, randomUUID())
    const vanished = await client.apply(configMaps, stale, { fieldManager }).catch((error: unknown) => error)
    expect(vanished).toMatchObject({ status: 409 })
    expect(isGone(vanished)).toBe(true)
    expect(await client.get(configMaps, { namespace, name: 'ghost' })).toBeUndefined()
    await client.create(configMaps, configMap(namespace, 'ghost'), { fieldManager })
    const recreated = await client.apply(configMaps, stale, { fieldManager }).catch((error: unknown) => error)
    expect(recreated).toMatchObject({ status: 422 })
    expect(isGone(recreated)).toBe(true)
  })
})

describe('finalizers', () => {
  async function withObject() {
    const { client, namespace } = await withKube()
    const key = { namespace, name: 'held' }
    const object = await client.create(configMaps, configMap(namespace, 'held', { data: 'stays' }), { fieldManager })
    return { client, key, object }
  }
  const finalizersOf = (object: ConfigMap | undefined) => [...(object?.metadata.finalizers ?? [])].sort()

  test('two finalizers coexist, and removing one keeps the other and the data', async () => {
    const { client, key, object } = await withObject()
    const first = await addFinalizer(client, configMaps, object, finalizer)
    await addFinalizer(client, configMaps, object, 'sekisho.dev/other')
    expect(finalizersOf(first)).toEqual([finalizer])
    const both = await client.get(configMaps, key)
    expect(finalizersOf(both)).toEqual([finalizer, 'sekisho.dev/other'])
    if (both) await removeFinalizer(client, configMaps, both, finalizer)
    const rest = await client.get(configMaps, key)
    expect(finalizersOf(rest)).toEqual(['sekisho.dev/other'])
    expect(rest?.data).toEqual({ data: 'stays' })
  })

  test('a deletion waits for the finalizer, and ends after its removal; removing it again succeeds', async () => {
    const { client, key, object } = await withObject()
    const held = await addFinalizer(client, configMaps, object, finalizer)
    if (!held) throw new Error('the finalizer was not added')
    await client.delete(configMaps, key)
    const leaving = await client.get(configMaps, key)
    expect(leaving?.metadata.deletionTimestamp).toBeTypeOf('string')
    await removeFinalizer(client, configMaps, held, finalizer)
    expect(await client.get(configMaps, key)).toBeUndefined()
    await removeFinalizer(client, configMaps, held, finalizer)
    expect(await client.get(configMaps, key)).toBeUndefined()
  })

  test('removal never changes another object of the same name', async () => {
    const { client, key, object } = await withObject()
    const held = await addFinalizer(client, configMaps, object, finalizer)
    if (!held) throw new Error('the finalizer was not added')
    await client.delete(configMaps, key)
    await removeFinalizer(client, configMaps, held, finalizer)
    const namesake = await client.create(configMaps, configMap(key.namespace, 'held', { new: 'one' }), { fieldManager })
    await addFinalizer(client, configMaps, namesake, finalizer)
    await removeFinalizer(client, configMaps, held, finalizer)
    expect(finalizersOf(await client.get(configMaps, key))).toEqual([finalizer])
    await removeFinalizer(
      client,
      configMaps,
      { ...namesake, metadata: { ...namesake.metadata, finalizers: [finalizer] } },
      finalizer,
    )
    expect(finalizersOf(await client.get(configMaps, key))).toEqual([])
  })

  test('is not added to an object that is deleted, recreated or being deleted', async () => {
    const { client, key, object } = await withObject()
    await addFinalizer(client, configMaps, object, 'sekisho.dev/other')
    await client.delete(configMaps, key)
    expect(await addFinalizer(client, configMaps, object, finalizer)).toBeUndefined()
    const leaving = await client.get(configMaps, key)
    expect(finalizersOf(leaving)).toEqual(['sekisho.dev/other'])
    if (leaving) await removeFinalizer(client, configMaps, leaving, 'sekisho.dev/other')
    expect(await addFinalizer(client, configMaps, object, finalizer)).toBeUndefined()
    await client.create(configMaps, configMap(key.namespace, 'held'), { fieldManager })
    expect(await addFinalizer(client, configMaps, object, finalizer)).toBeUndefined()
    expect(finalizersOf(await client.get(configMaps, key))).toEqual([])
  })

  test('is also removed when the object was created with it, so that another manager owns it', async () => {
    const { client, namespace } = await withKube()
    const born = { ...configMap(namespace, 'born'), metadata: { namespace, name: 'born', finalizers: [finalizer] } }
    const object = await client.create(configMaps, born, { fieldManager: 'creator' })
    await removeFinalizer(client, configMaps, object, finalizer)
    expect(finalizersOf(await client.get(configMaps, { namespace, name: 'born' }))).toEqual([])
  })
})

test('a child with our owner reference is deleted with its owner', async () => {
  const { client, namespace } = await withKube()
  const owner = await client.create(configMaps, configMap(namespace, 'parent'), { fieldManager })
  const metadata = { namespace, name: 'child', ownerReferences: [ownerReference(owner, { controller: true })] }
  await client.apply(configMaps, { ...configMap(namespace, 'child'), metadata }, { fieldManager })
  await client.delete(configMaps, { namespace, name: 'parent' })
  const gone = async () => ((await client.get(configMaps, { namespace, name: 'child' })) ? undefined : true)
  expect(await waitUntil('deletion of the child', gone)).toBe(true)
})

test('equal Events are counted in one object that refers to its subject', async () => {
  const { client, namespace } = await withKube()
  const object = await client.create(configMaps, configMap(namespace, 'subject'), { fieldManager })
  const recorder = createEventRecorder({ client, clock: systemClock, log: silentLog, component: 'sekisho-test' })
  for (let time = 0; time < 3; time++) {
    recorder.record(object, { type: 'Warning', reason: 'TestFailed', message: 'it did not work' })
    await recorder.flush()
  }
  const found = await client.list(events, { namespace, fieldSelector: `involvedObject.uid=${object.metadata.uid}` })
  expect(found).toMatchObject([
    { type: 'Warning', reason: 'TestFailed', message: 'it did not work', count: 3, reportingComponent: 'sekisho-test' },
  ])
})

test('a refusal is a KubeError with the reason and the fields, and never quotes a Secret', async () => {
  const { client, namespace } = await withKube()
  const bad = client.create(configMaps, configMap(namespace, 'Not_A_Name'), { fieldManager })
  await expect(bad).rejects.toMatchObject({ status: 422, reason: 'Invalid', fields: ['metadata.name'], retryable: false })
  const data = { password: Buffer.from('hunter2-hunter2').toString('base64') }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 's' }, data }
  await client.create(secrets, secret, { fieldManager })
  const patched = await client
    .mergePatch(secrets, { namespace, name: 's' }, { data: { password: 'hunter2 is no base64' } }, { fieldManager })
    .catch((error: unknown) => error)
  expect(isKubeError(patched)).toBe(true)
  expect(String(patched)).not.toMatch(/hunter2|aHVudGVy/)
})
