// Buckets and their ServiceBindings on a real API server and a real store: the controllers run as their ServiceAccount, and what
// counts is what the store answers to the key in the Secret.
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketTaggingCommand,
  DeleteObjectCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ServicesWorld } from '../../dev/attack/data/credential.ts'
import { dropKept, leaveThemAll } from '../../dev/attack/data/kept-buckets.ts'
import { createHttp } from '../../dev/attack/world/http.ts'
import { startVersitygw, type TestStore } from '../../dev/versitygw/start-versitygw.ts'
import { events as coreEvents, secrets } from '../../src/api/builtin/index.ts'
import { bucket } from '../../src/api/services/bucket.ts'
import { serviceBinding } from '../../src/api/services/service-binding.ts'
import { serviceClass } from '../../src/api/services/service-class.ts'
import { serviceInstance } from '../../src/api/services/service-instance.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { ensureBucket, removeBucket } from '../../src/data-services/adapters/s3/buckets.ts'
import { recordKept } from '../../src/data-services/adapters/s3/kept.ts'
import { probeName } from '../../src/data-services/adapters/s3/names.ts'
import { connectStore, type Store, type StoreKey } from '../../src/data-services/adapters/s3/store.ts'
import { liveUsers } from '../../src/data-services/adapters/s3/users.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { gone, readyReason } from '../fixtures/application-fixture.ts'
import { withDataServices } from '../fixtures/data-services-fixture.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { provisionedService } from '../fixtures/provisioned-service.ts'

const minute = 60_000
type Values = Readonly<Record<string, string>>

describe('in a shared store', () => {
  let program: TestStore
  let store: Store
  beforeAll(async () => {
    program = await startVersitygw()
    const { endpoint, iamEndpoint, region, key } = program
    store = connectStore({ id: 'test', endpoint, iamEndpoint, region }, key)
  })
  afterAll(async () => {
    store?.close()
    await program?.stop()
  })

  /** As whoever has these values. */
  const asBound = <T>(values: Values, work: (s3: S3Client) => Promise<T>): Promise<T> => {
    const key: StoreKey = {
      accessKeyId: values['access-key-id'] ?? '',
      secretAccessKey: new SecretString(values['secret-access-key'] ?? ''),
    }
    return store.asKey(key, ({ s3 }) => work(s3))
  }
  const put = (values: Values, key: string, into = values['bucket']) =>
    asBound(values, s3 => s3.send(new PutObjectCommand({ Bucket: into, Key: key, Body: 'text' })))
  const get = (values: Values, key: string, from = values['bucket']) =>
    asBound(values, async s3 => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: from, Key: key }))
      return Body?.transformToString()
    })
  const keys = (values: Values, prefix = '') =>
    asBound(values, async s3 => {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: values['bucket'], Prefix: prefix }))
      return Contents.map(({ Key }) => Key)
    })
  const refused = { $metadata: { httpStatusCode: 403 } }
  const asAdmin = <T>(work: (s3: S3Client) => Promise<T>): Promise<T> => store.asAdministrator(({ s3 }) => work(s3))

  type Options = {
    readonly secretAccessKey?: string
    readonly spec?: Record<string, unknown>
    readonly through?: (client: KubeClient) => KubeClient
  }

  async function running({ secretAccessKey = program.key.secretAccessKey.reveal(), spec = {}, through }: Options = {}) {
    const { accessKeyId } = program.key
    const on = await withDataServices({
      account: { accessKeyId, secretAccessKey },
      classSpec: secret => ({
        type: 'bucket',
        provider: {
          s3: { endpoint: program.endpoint.origin, iamEndpoint: program.iamEndpoint.origin, adminSecret: { name: secret } },
        },
        plans: [{ name: 'small', default: true, limits: { storage: '1Gi' } }],
        reach: { cidrs: ['127.0.0.1/32'] },
        credentials: { maxAgeDays: 30, overlapMinutes: 5 },
        ...spec,
      }),
      ...(through && { through }),
    })
    const { client, namespace, apply } = on
    return {
      ...on,
      setAdmin: (value: string) => on.setAdmin({ accessKeyId, secretAccessKey: value }),
      bucket: (more: Record<string, unknown> = {}) => apply(bucket, 'pictures', { class: namespace, ...more }),
      binding: (name = 'shop', more: Record<string, unknown> = {}) =>
        apply(serviceBinding, name, { service: { kind: 'Bucket', name: 'pictures' }, ...more }),
      bucketReady: (reason = 'Provisioned') => readyReason(client, bucket, { namespace, name: 'pictures' }, reason),
    }
  }
  type On = Awaited<ReturnType<typeof running>>

  test('over its plan a Bucket says so in a condition and an Event, and stays ready; a larger plan ends that', async () => {
    const plans = [
      { name: 'small', default: true, limits: { storage: '1Mi' } },
      { name: 'large', limits: { storage: '1Gi' } },
    ]
    const on = await running({ spec: { plans } })
    await on.bucket()
    await on.binding()
    await on.ready()
    const values = await on.values()
    const ofPlan = async (reason: string) => {
      on.later(5 * minute)
      await on.touch(bucket, 'pictures')
      return waitUntil(`the plan is ${reason}`, async () => {
        const found = await on.client.get(bucket, { namespace: on.namespace, name: 'pictures' })
        return findCondition(found?.status?.conditions, 'WithinPlan')?.reason === reason ? found : undefined
      })
    }
    await ofPlan('WithinPlan')
    await asBound(values, s3 =>
      s3.send(new PutObjectCommand({ Bucket: values['bucket'], Key: 'large', Body: 'x'.repeat(1_500_000) })),
    )
    const over = await ofPlan('OverPlan')
    expect(findCondition(over?.status?.conditions, 'Ready')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('1Mi'),
    })
    expect(over?.status?.usage?.overSince).toBeDefined()
    await waitUntil('the Event', async () => {
      const all = await on.client.list(coreEvents, { namespace: on.namespace })
      return all.find(({ reason, type }) => reason === 'OverPlan' && type === 'Warning')
    })
    await put(values, 'one more')
    await on.bucket({ plan: 'large' })
    expect((await ofPlan('WithinPlan'))?.status?.usage).not.toHaveProperty('overSince')
  })

  async function rotate(on: On, version: number): Promise<void> {
    on.later(minute)
    await on.binding('shop', { rotate: new Date(Date.now() + on.skew() - 500).toISOString() })
    await on.at(version)
  }

  test('class, Bucket and binding applied together: a key that works as it was asked for, and stands nowhere but in the Secret', async () => {
    const on = await running()
    await Promise.all([
      on.bucket({ versioning: true }),
      on.binding(),
      on.binding('report', { access: 'ReadOnly' }),
      on.binding('inbox', { access: 'WriteOnly', prefix: 'inbox/' }),
    ])
    const bound = await on.ready()
    await on.ready('Delivered', 'report')
    await on.ready('Delivered', 'inbox')
    const values = await on.values()
    expect(Object.keys(values).toSorted()).toEqual(
      ['access-key-id', 'bucket', 'endpoint', 'provider', 'region', 'secret-access-key', 'type', 'uri'].toSorted(),
    )
    expect(values).toMatchObject({ type: 's3', endpoint: program.endpoint.origin, region: 'us-east-1' })
    await put(values, 'a/picture')
    const report = await on.values('report')
    expect(await get(report, 'a/picture')).toBe('text')
    await expect(put(report, 'b')).rejects.toMatchObject(refused)
    const inbox = await on.values('inbox')
    expect(inbox['prefix']).toBe('inbox/')
    await put(inbox, 'inbox/letter')
    await expect(put(inbox, 'elsewhere')).rejects.toMatchObject(refused)
    await expect(get(inbox, 'inbox/letter')).rejects.toMatchObject(refused)
    await expect(keys(inbox, 'inbox/')).rejects.toMatchObject(refused)
    expect(await keys(values)).toEqual(['a/picture', 'inbox/letter'])

    const made = await on.bucketReady()
    const serviceClassNow = await on.classReady()
    expect(serviceClassNow.status?.capabilities).toMatchObject({ versioning: true })
    expect(made.status).toMatchObject({
      bucket: values['bucket'],
      endpoint: program.endpoint.origin,
      region: 'us-east-1',
      plan: 'small',
    })
    const { Status } = await asAdmin(s3 => s3.send(new GetBucketVersioningCommand({ Bucket: values['bucket'] })))
    expect(Status).toBe('Enabled')
    expect(bound.status).toMatchObject({
      binding: { name: 'binding-shop' },
      version: 1,
      slots: [{ slot: 'a', state: 'Delivered' }],
    })
    for (const said of [bound, made, serviceClassNow]) {
      expect(JSON.stringify(said)).not.toContain(values['secret-access-key'])
      expect(JSON.stringify(said)).not.toContain(program.key.secretAccessKey.reveal())
    }
    const secret = await on.client.get(secrets, { namespace: on.namespace, name: 'binding-shop' })
    expect(secret).toMatchObject({ type: 'servicebinding.io/s3', metadata: { ownerReferences: [{ kind: 'ServiceBinding' }] } })
    expect(await provisionedService(on.client, serviceBinding, { namespace: on.namespace, name: 'shop' })).toEqual(values)
    // At rest nothing is written.
    const before = on.writes.length
    for (const type of [bucket, serviceBinding]) await on.touch(type, type === bucket ? 'pictures' : 'shop')
    await on.binding('last')
    await on.ready('Delivered', 'last')
    const isOther = (write: string): boolean => !write.endsWith('last') && !write.includes('pictures')
    expect(on.writes.slice(before).filter(isOther)).toEqual([])
  })

  test('the store itself refuses the key of one tenant everything of another', async () => {
    const [acme, globex] = [await running(), await running()]
    for (const on of [acme, globex]) {
      await on.bucket()
      await on.binding()
      await on.ready()
    }
    const [mine, theirs] = [await acme.values(), await globex.values()]
    await put(theirs, 'secret')
    await expect(get(mine, 'secret', theirs['bucket'])).rejects.toMatchObject(refused)
    await expect(put(mine, 'planted', theirs['bucket'])).rejects.toMatchObject(refused)
    await expect(keys({ ...mine, bucket: theirs['bucket'] ?? '' })).rejects.toMatchObject(refused)
    expect(await keys(theirs)).toEqual(['secret'])
  })

  test('rotations under writers: no request fails, and the former key ends with its overlap', async () => {
    const on = await running()
    await on.bucket()
    await on.binding()
    await on.ready()
    const first = await on.values()
    let isOver = false
    const written = [0, 0]
    const writers = Promise.all(
      written.map(async (_, mine) => {
        while (!isOver) {
          await put(await on.values(), `${mine}/${written[mine]}`)
          written[mine] = (written[mine] ?? 0) + 1
        }
      }),
    )
    for (let version = 2; version <= 4; version++) {
      await rotate(on, version)
      const seen = [...written]
      // Each has read the Secret anew since, as pods do in a rollout; then the overlap ends.
      await waitUntil(
        'every writer to come round',
        async () => written.every((n, mine) => n >= (seen[mine] ?? 0) + 2) || undefined,
      )
      on.later(6 * minute)
      await on.touch(serviceBinding, 'shop')
      await on.drained()
    }
    isOver = true
    await writers
    expect(await keys(await on.values())).toHaveLength(written.reduce((sum, n) => sum + n, 0))
    await expect(put(first, 'late')).rejects.toMatchObject(refused)
  })

  test('a Secret that was deleted is made again with another key', async () => {
    const on = await running()
    await on.bucket()
    await on.binding()
    await on.ready()
    const first = await on.values()
    await on.client.delete(secrets, { namespace: on.namespace, name: 'binding-shop' })
    await on.touch(serviceBinding, 'shop')
    await on.at(2)
    const second = await on.values()
    expect(second['secret-access-key']).not.toBe(first['secret-access-key'])
    await put(second, 'again')
  })

  test('what is kept is found again by its name; what is in use or has objects stays; what is emptied is gone', async () => {
    const on = await running()
    await on.bucket()
    await on.binding()
    const principal = (await on.ready()).status?.principal ?? ''
    const first = await on.values()
    await put(first, 'kept')
    const key = { namespace: on.namespace, name: 'pictures' }
    await on.client.delete(bucket, key)
    await on.bucketReady('InUse')
    await on.client.delete(serviceBinding, { namespace: on.namespace, name: 'shop' })
    await gone(on.client, bucket, key)
    expect(await on.values()).toEqual({})
    expect((await liveUsers(store, [principal])).size).toBe(0)
    await expect(get(first, 'kept')).rejects.toMatchObject(refused)

    await on.bucket({ whenDeleted: 'Delete' })
    await on.binding()
    await on.ready()
    const again = await on.values()
    expect(again['bucket']).toBe(first['bucket'])
    expect(await get(again, 'kept')).toBe('text')
    await on.client.delete(serviceBinding, { namespace: on.namespace, name: 'shop' })
    await gone(on.client, serviceBinding, { namespace: on.namespace, name: 'shop' })
    const finalizers = ['sekisho.dev/bucket', 'example.com/look']
    await on.client.mergePatch(bucket, key, { metadata: { finalizers } }, { fieldManager: 'test' })
    await on.client.delete(bucket, key)
    await on.bucketReady('BucketNotEmpty')
    await on.client.mergePatch(bucket, key, { spec: { emptyWhenDeleted: true } }, { fieldManager: 'test' })
    // What the audit log has of it: said before the object is gone.
    await waitUntil('its end', async () => (await on.client.get(bucket, key))?.status?.end === 'Deleted' || undefined)
    await on.client.mergePatch(bucket, key, { metadata: { finalizers: [] } }, { fieldManager: 'test' })
    await gone(on.client, bucket, key)
    await expect(asAdmin(s3 => s3.send(new GetBucketVersioningCommand({ Bucket: first['bucket'] })))).rejects.toThrow(
      'NoSuchBucket',
    )
  })

  test('a tenant leaves so many buckets, and one more is said; one that is used again, or that nobody has, makes room', async () => {
    const on = await running()
    await on.bucket()
    const name = (await on.bucketReady()).status?.bucket ?? ''
    await asAdmin(s3 => s3.send(new PutObjectCommand({ Bucket: name, Key: 'left', Body: 'text' })))
    const tenantUid = (await on.client.get(tenant, { name: on.namespace }))?.metadata.uid ?? ''
    const own = (await on.classReady()).metadata.uid ?? ''
    const ofClass = connectStore({ ...store.address, id: own }, program.key)
    onTestFinished(ofClass.close)
    const left = Array.from({ length: 10 }, (_, n) => ({ name: `left-${n}-${on.namespace}`, owner: `b${n}`, tenantUid }))
    for (const one of left) {
      expect(await ensureBucket(ofClass, one, true)).toBe('made')
      expect(await recordKept(ofClass, one, 10)).toBe(true)
    }
    const key = { namespace: on.namespace, name: 'pictures' }
    await on.client.delete(bucket, key)
    const refusedOne = await on.bucketReady('KeptTooMany')
    expect(findCondition(refusedOne.status?.conditions, 'Ready')?.message).toContain('keeps 10 buckets for this tenant')
    const [first, second] = left
    if (first === undefined || second === undefined) throw new Error('ten were made')
    await removeBucket(ofClass, { ...first, empty: true, wasComplete: true })
    await on.touch(bucket, 'pictures')
    await gone(on.client, bucket, key)
    expect(await recordKept(ofClass, first, 10)).toBe(false)
    await on.bucket({ whenDeleted: 'Delete', emptyWhenDeleted: true })
    expect((await on.bucketReady()).status?.bucket).toBe(name)
    expect(await recordKept(ofClass, first, 10)).toBe(true)
    for (const one of left) await removeBucket(ofClass, { ...one, empty: true, wasComplete: true })
  })

  test('of twelve full buckets whose Buckets are deleted at once, a tenant leaves ten, as the attack has it', async () => {
    const on = await running()
    const admin = await testAdmin()
    const world: ServicesWorld = {
      admin,
      journal: { note: async () => undefined, all: () => [], clear: async () => undefined },
      async api(_actor, method, path, { json, contentType } = {}) {
        const { status, body } = await admin.request(method, path, json, contentType)
        return { status, text: JSON.stringify(body) }
      },
    }
    const openHttp = () => createHttp('', () => undefined)
    const scene = { world, openHttp, serviceClass: on.namespace, namespace: on.namespace }
    expect(await leaveThemAll(scene)).toMatchObject({ outcome: 'stopped', by: 'bound' })
    await dropKept(scene)
    const own = probeName((await on.classReady()).metadata.uid ?? '')
    const { Contents = [] } = await asAdmin(s3 => s3.send(new ListObjectsV2Command({ Bucket: own, Prefix: 'kept/' })))
    expect(Contents).toEqual([])
  })

  test('what somebody changed in the store is put back, and an Event says so; what the Bucket asks for anew is none', async () => {
    const on = await running()
    await on.bucket({ versioning: true })
    const name = (await on.bucketReady()).status?.bucket
    const told = async (): Promise<readonly string[]> => {
      const all = await on.client.list(coreEvents, { namespace: on.namespace })
      return all.flatMap(({ reason, message }) => (reason === 'SettingsPutBack' ? (message ?? '') : []))
    }
    const versioning = async () => (await asAdmin(s3 => s3.send(new GetBucketVersioningCommand({ Bucket: name })))).Status
    const suspended = { Bucket: name, VersioningConfiguration: { Status: 'Suspended' } } as const
    await on.bucket({ versioning: false })
    await waitUntil('another versioning', async () => (await versioning()) === 'Suspended' || undefined)
    await on.bucket({ versioning: true })
    await waitUntil('versions again', async () => (await versioning()) === 'Enabled' || undefined)
    await on.bucketReady()
    expect(await told()).toEqual([])
    await asAdmin(s3 => s3.send(new PutBucketVersioningCommand(suspended)))
    await on.touch(bucket, 'pictures')
    const [message] = (await waitUntil('the Event', async () => ((await told()).length > 0 ? told() : undefined))) ?? []
    expect(message).toContain(`changed the versioning of the bucket ${name}`)
    expect(await versioning()).toBe('Enabled')
  })

  test('a bucket that the store lost is said, and no empty one takes its place', async () => {
    const on = await running()
    await on.bucket()
    const name = (await on.bucketReady()).status?.bucket
    await asAdmin(s3 => s3.send(new DeleteBucketCommand({ Bucket: name })))
    for (let round = 0; round < 2; round++) {
      await on.touch(bucket, 'pictures')
      await on.bucketReady('BucketMissing')
    }
    await expect(asAdmin(s3 => s3.send(new GetBucketVersioningCommand({ Bucket: name })))).rejects.toThrow('NoSuchBucket')
  })

  test('a former owner’s keys end, and its name is nobody else’s while it is there', async () => {
    const on = await running({ spec: { ownNames: true } })
    const name = `lost-${on.namespace}`.slice(0, 60)
    await on.bucket({ name })
    await on.binding()
    const principal = (await on.ready()).status?.principal ?? ''
    const first = await on.values()
    await asAdmin(s3 => s3.send(new DeleteBucketCommand({ Bucket: name })))
    // Another one asks for it before anybody has looked.
    await on.apply(bucket, 'second', { class: on.namespace, name })
    const second = { namespace: on.namespace, name: 'second' }
    await readyReason(on.client, bucket, second, 'NameTaken')
    await on.touch(bucket, 'pictures')
    await on.bucketReady('BucketMissing')
    expect((await liveUsers(store, [principal])).size).toBe(0)
    // Somebody makes it all the same: what was complete once stays what it is, and is not made anew.
    await asAdmin(s3 => s3.send(new CreateBucketCommand({ Bucket: name })))
    await on.touch(bucket, 'pictures')
    await on.bucketReady('NameTaken')
    await expect(put(first, 'planted')).rejects.toMatchObject(refused)
    await asAdmin(s3 => s3.send(new DeleteBucketCommand({ Bucket: name })))
    await on.touch(bucket, 'pictures')
    await on.bucketReady('BucketMissing')
    await on.client.delete(serviceBinding, { namespace: on.namespace, name: 'shop' })
    await on.client.delete(bucket, { namespace: on.namespace, name: 'pictures' })
    await gone(on.client, bucket, { namespace: on.namespace, name: 'pictures' })
    await on.touch(bucket, 'second')
    await readyReason(on.client, bucket, second, 'Provisioned')
  })

  test('of whose bucket the tag is gone, that is not said to be deleted; what is empty is not kept', async () => {
    const on = await running()
    await on.bucket({ whenDeleted: 'Delete' })
    const name = (await on.bucketReady()).status?.bucket ?? ''
    const tags = await asAdmin(s3 => s3.send(new GetBucketTaggingCommand({ Bucket: name })))
    await asAdmin(s3 => s3.send(new DeleteBucketTaggingCommand({ Bucket: name })))
    const key = { namespace: on.namespace, name: 'pictures' }
    await on.client.delete(bucket, key)
    await on.bucketReady('RefusedByServer')
    await asAdmin(s3 => s3.send(new PutBucketTaggingCommand({ Bucket: name, Tagging: { TagSet: tags.TagSet } })))
    await on.client.mergePatch(bucket, key, { spec: { whenDeleted: 'Keep' } }, { fieldManager: 'test' })
    await gone(on.client, bucket, key)
    await expect(asAdmin(s3 => s3.send(new GetBucketVersioningCommand({ Bucket: name })))).rejects.toThrow('NoSuchBucket')
  })

  test('of a Tenant that is gone, a bucket with objects holds nothing up', async () => {
    const on = await running()
    await on.bucket({ whenDeleted: 'Delete' })
    const name = (await on.bucketReady()).status?.bucket
    const object = { Bucket: name, Key: 'left' }
    await asAdmin(s3 => s3.send(new PutObjectCommand({ ...object, Body: 'text' })))
    const key = { namespace: on.namespace, name: 'pictures' }
    await on.client.delete(bucket, key)
    await on.bucketReady('BucketNotEmpty')
    await on.client.delete(tenant, { name: on.namespace })
    await gone(on.client, bucket, key)
    await asAdmin(s3 => s3.send(new DeleteObjectCommand(object)))
  })

  test('a name of its own: only where the class allows it, and never one that somebody has', async () => {
    const on = await running()
    const name = `own-${on.namespace}`.slice(0, 60)
    await on.bucket({ name })
    await on.bucketReady('NameNotAllowed')
    await asAdmin(s3 => s3.send(new CreateBucketCommand({ Bucket: name })))
    await asAdmin(s3 => s3.send(new PutObjectCommand({ Bucket: name, Key: 'theirs', Body: 'text' })))
    await on.apply(serviceClass, on.namespace, { ...on.classSpec, ownNames: true }, '')
    await on.bucketReady('NameTaken')
    await on.binding()
    await on.ready('BucketNotReady')
    // It goes, and takes nothing with it.
    await on.client.mergePatch(
      bucket,
      { namespace: on.namespace, name: 'pictures' },
      { spec: { whenDeleted: 'Delete', emptyWhenDeleted: true } },
      { fieldManager: 'test' },
    )
    await on.client.delete(serviceBinding, { namespace: on.namespace, name: 'shop' })
    await on.client.delete(bucket, { namespace: on.namespace, name: 'pictures' })
    await gone(on.client, bucket, { namespace: on.namespace, name: 'pictures' })
    await asAdmin(s3 => s3.send(new DeleteObjectCommand({ Bucket: name, Key: 'theirs' })))
    await asAdmin(s3 => s3.send(new DeleteBucketCommand({ Bucket: name })))
    await on.bucket({ name })
    expect((await on.bucketReady()).status?.bucket).toBe(name)
  })

  test('a wrong key of the administrator is said on the class, and nothing is made; corrected, all goes on', async () => {
    const on = await running({ secretAccessKey: 'wrong' })
    await on.bucket()
    await on.binding()
    await on.classReady('LoginRefused')
    await on.bucketReady('ClassNotReady')
    await on.ready('BucketNotReady')
    await on.setAdmin(program.key.secretAccessKey.reveal())
    await on.touch(serviceClass, on.namespace)
    await on.classReady()
    await on.ready()
  })

  test('an instance of a class for buckets is refused, and a class that a Bucket has stays until it is gone', async () => {
    const on = await running()
    await on.apply(serviceInstance, 'db', { class: on.namespace })
    await readyReason(on.client, serviceInstance, { namespace: on.namespace, name: 'db' }, 'ClassOfOtherType')
    await on.client.delete(serviceInstance, { namespace: on.namespace, name: 'db' })
    await gone(on.client, serviceInstance, { namespace: on.namespace, name: 'db' })
    await on.bucket()
    await on.bucketReady()
    await on.client.delete(serviceClass, { name: on.namespace })
    await on.classReady('ClassInUse')
    await on.client.delete(bucket, { namespace: on.namespace, name: 'pictures' })
    await gone(on.client, serviceClass, { name: on.namespace })
  })

  test('another process takes over where this one ended', async () => {
    const on = await running()
    await on.bucket()
    await on.binding()
    await on.ready()
    const first = await on.values()
    await on.stop()
    await on.client.delete(secrets, { namespace: on.namespace, name: 'binding-shop' })
    const { stop } = await on.start()
    onTestFinished(stop)
    await on.at(2)
    expect((await on.values())['access-key-id']).not.toBe(first['access-key-id'])
  })
})
