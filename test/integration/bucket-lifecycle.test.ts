// Rules by age of a Bucket, on a real API server: with a store that has none, and with one that has.
import {
  DeleteObjectsCommand,
  GetBucketLifecycleConfigurationCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startVersitygw, type TestStore } from '../../dev/versitygw/start-versitygw.ts'
import { events as coreEvents } from '../../src/api/builtin/index.ts'
import { bucket } from '../../src/api/services/bucket.ts'
import { serviceBinding } from '../../src/api/services/service-binding.ts'
import { ensureBucket } from '../../src/data-services/adapters/s3/buckets.ts'
import { userName } from '../../src/data-services/adapters/s3/names.ts'
import { observe } from '../../src/data-services/adapters/s3/proof.ts'
import { connectStore, type Store } from '../../src/data-services/adapters/s3/store.ts'
import { ensureUser, issueKey } from '../../src/data-services/adapters/s3/users.ts'
import { judgeBucket } from '../../src/data-services/proofs/judge-bucket.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { gone, readyReason } from '../fixtures/application-fixture.ts'
import { withDataServices } from '../fixtures/data-services-fixture.ts'
import { type LifecycleStore, startLifecycleStore } from '../fixtures/lifecycle-store.ts'

let program: TestStore
let aging: LifecycleStore
let store: Store
beforeAll(async () => {
  program = await startVersitygw()
  aging = await startLifecycleStore(program)
  store = connectStore({ ...program, endpoint: aging.endpoint, id: 'test' }, program.key)
})
afterAll(async () => {
  store?.close()
  await aging?.close()
  await program?.stop()
})

const asAdmin = <T>(work: (s3: S3Client) => Promise<T>): Promise<T> => store.asAdministrator(({ s3 }) => work(s3))
/** What the store says of the bucket; empty for no rules. */
const rulesOf = async (Bucket: string | undefined) => {
  const none = { Rules: [] }
  const asked = asAdmin(s3 => s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket })))
  const { Rules = [] } = await asked.catch(error =>
    error.code === 'NoSuchLifecycleConfiguration' ? none : Promise.reject(error),
  )
  return Rules
}

async function running(endpoint: URL) {
  const { accessKeyId, secretAccessKey } = program.key
  const on = await withDataServices({
    account: { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
    classSpec: name => ({
      type: 'bucket',
      provider: { s3: { endpoint: endpoint.origin, iamEndpoint: program.iamEndpoint.origin, adminSecret: { name } } },
      plans: [{ name: 'small', default: true, limits: { storage: '1Gi' } }],
      reach: { cidrs: ['127.0.0.1/32'] },
    }),
  })
  const { client, namespace, apply } = on
  const key = { namespace, name: 'pictures' }
  return {
    ...on,
    key,
    bucket: (more: Record<string, unknown> = {}) => apply(bucket, 'pictures', { class: namespace, ...more }),
    bucketReady: (reason = 'Provisioned') => readyReason(client, bucket, key, reason),
    /** What Events say that somebody changed in the store. */
    async putBack(): Promise<readonly string[]> {
      const all = await client.list(coreEvents, { namespace })
      return all.flatMap(({ reason, message }) => (reason === 'SettingsPutBack' ? (message ?? '') : []))
    },
  }
}

const lifecycle = [
  { prefix: 'tmp/', expireAfterDays: 7 },
  { expireFormerVersionsAfterDays: 30, abortUploadsAfterDays: 1 },
]
const inStore = [
  { ID: 'sekisho-1', Status: 'Enabled', Filter: { Prefix: 'tmp/' }, Expiration: { Days: 7 } },
  {
    ID: 'sekisho-2',
    Status: 'Enabled',
    Filter: { Prefix: '' },
    NoncurrentVersionExpiration: { NoncurrentDays: 30 },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
  },
]

test('a store without them says so in the class, and a Bucket that asks for them names the field and the cure', async () => {
  const on = await running(program.endpoint)
  expect((await on.classReady()).status?.capabilities).toEqual({ versioning: true, cors: true, lifecycle: false })
  await on.bucket({ versioning: true, lifecycle })
  const refused = await on.bucketReady('CapabilityMissing')
  expect(findCondition(refused.status?.conditions, 'Ready')?.message).toMatch(/^spec[.]lifecycle: .* leave it out$/)
  await on.bucket({ versioning: true })
  await on.bucketReady()
})

test('rules are in the store as the Bucket says, changed, put back and taken out with it; others’ stay where it says nothing of rules', async () => {
  const on = await running(aging.endpoint)
  expect((await on.classReady()).status?.capabilities).toEqual({ versioning: true, cors: true, lifecycle: true })
  await on.bucket({ versioning: true, lifecycle })
  const name = (await on.bucketReady()).status?.bucket
  expect(await rulesOf(name)).toEqual(inStore)
  await on.bucket({ versioning: true, lifecycle: [{ ...lifecycle[0], expireAfterDays: 8 }] })
  await waitUntil('other rules', async () => (await rulesOf(name)).length === 1 || undefined)
  expect(await rulesOf(name)).toEqual([{ ...inStore[0], Expiration: { Days: 8 } }])
  await on.bucketReady()
  expect(await on.putBack()).toEqual([])

  const somebodys = [{ ID: 'all', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 1 } }] as const
  const theirs = { Bucket: name, LifecycleConfiguration: { Rules: [...somebodys] } }
  await asAdmin(s3 => s3.send(new PutBucketLifecycleConfigurationCommand(theirs)))
  await on.touch(bucket, 'pictures')
  await waitUntil('the Event', async () => (await on.putBack()).length > 0 || undefined)
  expect(await on.putBack()).toEqual([expect.stringContaining(`changed the lifecycle rules of the bucket ${name}`)])
  expect(await rulesOf(name)).toEqual([{ ...inStore[0], Expiration: { Days: 8 } }])

  await on.bucket({ versioning: true })
  await waitUntil('no rules', async () => (await rulesOf(name)).length === 0 || undefined)
  await asAdmin(s3 => s3.send(new PutBucketLifecycleConfigurationCommand(theirs)))
  await on.bucket({ versioning: true, lifecycle: [] })
  await waitUntil('no rules', async () => (await rulesOf(name)).length === 0 || undefined)
  await on.bucket({ versioning: true })
  await on.bucketReady()
  await asAdmin(s3 => s3.send(new PutBucketLifecycleConfigurationCommand(theirs)))
  await on.bucket({ versioning: false })
  await on.bucketReady()
  expect(await rulesOf(name)).toEqual(somebodys)
})

test('a bucket that is kept keeps its rules, and has those of the Bucket that finds it; what they deleted is in nobody’s way', async () => {
  const on = await running(aging.endpoint)
  await on.bucket({ versioning: true, lifecycle })
  const name = (await on.bucketReady()).status?.bucket
  const put = (Key: string) => asAdmin(s3 => s3.send(new PutObjectCommand({ Bucket: name, Key, Body: 'text' })))
  for (const key of ['tmp/a', 'tmp/b', 'kept']) await put(key)
  await on.client.delete(bucket, on.key)
  await gone(on.client, bucket, on.key)
  expect(await rulesOf(name)).toEqual(inStore)

  await on.bucket({ whenDeleted: 'Delete', emptyWhenDeleted: true })
  expect((await on.bucketReady()).status).toMatchObject({ bucket: name, usage: { objects: 3 } })
  expect(await rulesOf(name)).toEqual([])
  // In place of the store, whose rule it was: former versions and the marks of deletions stay.
  const Objects = ['tmp/a', 'tmp/b'].map(Key => ({ Key }))
  await asAdmin(s3 => s3.send(new DeleteObjectsCommand({ Bucket: name, Delete: { Objects } })))
  on.later(6 * 60_000)
  await on.touch(bucket, 'pictures')
  await waitUntil('another measurement', async () => {
    const found = await on.client.get(bucket, on.key)
    return found?.status?.usage?.objects === 1 || undefined
  })
  await on.client.delete(bucket, on.key)
  await gone(on.client, bucket, on.key)
  await expect(rulesOf(name)).resolves.toEqual([])
})

test('no key of a tenant writes rules: one that could is not delivered', async () => {
  const wanted = { bucket: 'aging', access: 'ReadWrite', user: userName('aging', 'a') } as const
  expect(await ensureBucket(store, { name: wanted.bucket, owner: wanted.bucket }, true)).toBe('made')
  await ensureUser(store, wanted)
  const key = await issueKey(store, wanted.user)
  expect(judgeBucket(wanted, await observe(store, key, wanted))).toEqual({ kind: 'proven' })
  aging.allow(key.accessKeyId)
  const message = expect.stringContaining('write the lifecycle rules of its bucket')
  expect(judgeBucket(wanted, await observe(store, key, wanted))).toEqual({ kind: 'wider', message })
  expect(await rulesOf(wanted.bucket)).toEqual([])

  const on = await running(aging.endpoint)
  await on.bucket({ lifecycle: [{ expireAfterDays: 7 }] })
  await on.apply(serviceBinding, 'shop', { service: { kind: 'Bucket', name: 'pictures' } })
  await on.ready()
  expect(await rulesOf((await on.bucketReady()).status?.bucket)).toMatchObject([{ Expiration: { Days: 7 } }])
  expect(await on.putBack()).toEqual([])
})

test.each<[string, object, RegExp]>([
  ['a rule that says nothing', { lifecycle: [{ prefix: 'tmp/' }] }, /set expireAfterDays, expireFormerVersionsAfterDays or/],
  ['former versions without versions', { lifecycle: [{ expireFormerVersionsAfterDays: 1 }] }, /needs versioning/],
  ['eleven rules', { lifecycle: Array.from({ length: 11 }, () => ({ expireAfterDays: 1 })) }, /must have at most 10 items/],
  ['no day', { lifecycle: [{ expireAfterDays: 0 }] }, /greater than or equal to 1/],
  ['more than ten years', { lifecycle: [{ abortUploadsAfterDays: 3651 }] }, /less than or equal to 3650/],
  ['a way up', { lifecycle: [{ prefix: '../other/', expireAfterDays: 1 }] }, /prefix in body should match/],
  ['a control character', { lifecycle: [{ prefix: 'a\u001b[2J', expireAfterDays: 1 }] }, /prefix in body should match/],
  ['a form of S3', { lifecycle: [{ ID: 'a', Expiration: { Days: 1 }, expireAfterDays: 1 }] }, /unknown|not declared/],
])('the API server refuses %s', async (_, spec, message) => {
  const on = await running(program.endpoint)
  await expect(on.bucket({ ...spec })).rejects.toThrow(message)
})
