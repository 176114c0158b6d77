// The adapter of stores of buckets on a real one: what a tenant's key can do, and everything that it tries and must not get.
import { createServer } from 'node:net'
import {
  CreateUserCommand,
  GetUserCommand,
  ListAccessKeysCommand,
  ListUsersCommand,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketCorsCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutBucketAclCommand,
  PutBucketCorsCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startVersitygw, type TestStore } from '../../dev/versitygw/start-versitygw.ts'
import { ensureBucket, removeBucket } from '../../src/data-services/adapters/s3/buckets.ts'
import { usageOf } from '../../src/data-services/adapters/s3/contents.ts'
import { bucketId, probeName, proofName, userName } from '../../src/data-services/adapters/s3/names.ts'
import type { BucketAccess } from '../../src/data-services/adapters/s3/policy.ts'
import { cleanProof, observe } from '../../src/data-services/adapters/s3/proof.ts'
import { connectStore, type Session, type Store, type StoreKey } from '../../src/data-services/adapters/s3/store.ts'
import { checkStore, removeProbe } from '../../src/data-services/adapters/s3/store-check.ts'
import { dropKey, dropUser, ensureUser, issueKey, keysOf, liveUsers } from '../../src/data-services/adapters/s3/users.ts'
import { judgeBucket } from '../../src/data-services/proofs/judge-bucket.ts'
import { troubleOf } from '../../src/data-services/server-error.ts'
import { SecretString } from '../../src/lib/secret-string.ts'

const prefix = 'images/'
const soon = 1_000
const refused = { $metadata: { httpStatusCode: 403 } }

describe('a shared store', () => {
  let server: TestStore
  let store: Store
  let count = 0

  beforeAll(async () => {
    server = await startVersitygw()
    store = connectStore({ ...server, id: 'the-class' }, server.key)
    await checkStore(store)
  })
  afterAll(async () => {
    store?.close()
    await server?.stop()
  })

  const owner = () => bucketId({ tenantUid: `t${count++}`, namespace: 'n', name: 'files' })
  async function bucket(name = owner()): Promise<string> {
    expect(await ensureBucket(store, { name, owner: name }, true)).toBe('made')
    return name
  }
  /** A bucket, and a key of it. */
  async function binding(access: BucketAccess, below?: string, name?: string) {
    const wanted = { bucket: name ?? (await bucket()), access, prefix: below, user: userName(`binding${count++}`, 'a') }
    await ensureUser(store, wanted)
    return { wanted, key: await issueKey(store, wanted.user) }
  }
  const as = <T>(key: StoreKey, work: (session: Session) => Promise<T>) => store.asKey(key, work)
  const asAdmin = <T>(work: (session: Session) => Promise<T>) => store.asAdministrator(work)
  const put = (Bucket: string, Key: string, Body = 'text') => new PutObjectCommand({ Bucket, Key, Body })
  const keysIn = (Bucket: string) =>
    asAdmin(async ({ s3 }) => {
      const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
      return [...Versions, ...DeleteMarkers].map(({ Key }) => Key)
    })

  test('the store says what it can do, twice the same', async () => {
    const expected = { capabilities: { versioning: true, cors: true, lifecycle: false } }
    expect(await checkStore(store)).toEqual(expected)
    expect(await checkStore(store)).toEqual(expected)
  })

  test('a bucket is made once, with its owner; what is lost is said; another’s and nobody’s of that name are left alone', async () => {
    const name = await bucket()
    expect(await ensureBucket(store, { name, owner: name }, false)).toBe('found')
    expect(await ensureBucket(store, { name: owner(), owner: 'lost' }, false)).toBe('missing')
    expect(await ensureBucket(store, { name, owner: owner() }, true)).toBe('foreign')
    expect(await removeBucket(store, { name, owner: owner(), empty: true, wasComplete: true })).toBe('gone')
    expect(await ensureBucket(store, { name, owner: name }, false)).toBe('found')
    await asAdmin(({ s3 }) => s3.send(new CreateBucketCommand({ Bucket: 'somebodys' })))
    expect(await ensureBucket(store, { name: 'somebodys', owner: owner() }, true)).toBe('foreign')
    const theirs = { name: 'somebodys', owner: owner(), empty: true }
    expect(await removeBucket(store, { ...theirs, wasComplete: false })).toBe('gone')
    // Nobody says any more whose it is.
    await expect(removeBucket(store, { ...theirs, wasComplete: true })).rejects.toMatchObject({ kind: 'refused' })
    await asAdmin(({ s3 }) => s3.send(new GetBucketTaggingCommand({ Bucket: 'somebodys' }))).then(
      () => expect.fail('it has no tags'),
      error => expect(error).toMatchObject({ code: 'NoSuchTagSet' }),
    )
  })

  test('of many owners that want the same name at once one gets it', async () => {
    const wanted = Array.from({ length: 8 }, () => ({ name: 'photos', owner: owner() }))
    // A store of their own each, as two processes have.
    const stores = wanted.map(() => connectStore({ ...server, id: 'the-class' }, server.key))
    const outcomes = await Promise.all(wanted.map((one, index) => ensureBucket(stores[index] ?? store, one, true)))
    for (const one of stores) one.close()
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 7 }, () => 'foreign'), 'made'])
    const winner = wanted[outcomes.indexOf('made')]
    for (const one of wanted) expect(await ensureBucket(store, one, true)).toBe(one === winner ? 'found' : 'foreign')
  })

  test('versions and rules for browsers follow what is wanted', async () => {
    const name = await bucket()
    const cors = [{ origins: ['https://shop.example'], methods: ['GET', 'PUT'] as const, headers: ['*'], maxAgeSeconds: 60 }]
    const versioning = true
    for (const _ of ['once', 'again'])
      expect(await ensureBucket(store, { name, owner: name, versioning, cors }, true)).toBe('found')
    const rules = await asAdmin(({ s3 }) => s3.send(new GetBucketCorsCommand({ Bucket: name })))
    expect(rules.CORSRules).toMatchObject([{ AllowedOrigins: ['https://shop.example'], AllowedMethods: ['GET', 'PUT'] }])
    await asAdmin(({ s3 }) => s3.send(put(name, 'a')))
    await asAdmin(({ s3 }) => s3.send(put(name, 'a', 'longer text')))
    expect(await usageOf(store, name)).toEqual({ bytes: 15, objects: 1, complete: true })
    await ensureBucket(store, { name, owner: name }, true)
    await expect(asAdmin(({ s3 }) => s3.send(new GetBucketCorsCommand({ Bucket: name })))).rejects.toMatchObject({ status: 404 })
    expect(await usageOf(store, name)).toMatchObject({ bytes: 15 })
  })

  const grants = (['ReadWrite', 'ReadOnly', 'WriteOnly'] as const).flatMap(access =>
    [undefined, prefix].map(below => [access, below] as const),
  )
  test.each(grants)(
    'a key with %s below %s is proven to have that and nothing else, and nothing of the proof is left',
    async (access, below) => {
      const { wanted, key } = await binding(access, below)
      await ensureBucket(store, { name: wanted.bucket, owner: wanted.bucket, versioning: true }, false)
      expect(judgeBucket(wanted, await observe(store, key, wanted))).toEqual({ kind: 'proven' })
      expect(await keysIn(wanted.bucket)).toEqual([])
      expect(await keysIn(probeName('the-class'))).toEqual(['probe'])
      expect(await keysOf(store, wanted.user)).toHaveLength(1)
    },
  )

  test('what a proof left that broke off ends with its credential, also when the bucket is gone', async () => {
    const { wanted, key } = await binding('ReadWrite', prefix)
    await observe(store, key, wanted)
    const name = proofName(wanted.user)
    const [own, platforms] = [wanted.bucket, probeName('the-class')]
    await asAdmin(async ({ s3, iam }) => {
      for (const Key of [name, `${prefix}${name}`]) await s3.send(put(own, Key))
      await s3.send(put(platforms, name))
      await s3.send(new CreateBucketCommand({ Bucket: name }))
      await iam.send(new CreateUserCommand({ UserName: name }))
    })
    for (const _ of ['once', 'again']) await cleanProof(store, wanted)
    expect([await keysIn(own), await keysIn(platforms)]).toEqual([[], ['probe']])
    await expect(asAdmin(({ s3 }) => s3.send(put(name, 'a')))).rejects.toMatchObject({ code: 'NoSuchBucket' })
    expect(await keysOf(store, wanted.user)).toHaveLength(1)
    expect(await removeBucket(store, { name: own, owner: own, empty: false, wasComplete: true })).toBe('gone')
    await cleanProof(store, wanted)
  })

  test.each<[string, BucketAccess, string | undefined, object]>([
    ['everything', 'ReadWrite', undefined, { Action: '*', Resource: '*' }],
    [
      'everything in its bucket',
      'ReadWrite',
      prefix,
      { Action: 's3:*', Resource: ['arn:aws:s3:::BUCKET', 'arn:aws:s3:::BUCKET/*'] },
    ],
    ['what is outside of the prefix', 'ReadOnly', prefix, { Action: 's3:GetObject', Resource: 'arn:aws:s3:::BUCKET/*' }],
    ['what is beside the prefix', 'ReadOnly', prefix, { Action: 's3:GetObject', Resource: 'arn:aws:s3:::BUCKET/images2/*' }],
    ['a list without the prefix', 'ReadOnly', prefix, { Action: 's3:ListBucket', Resource: 'arn:aws:s3:::BUCKET' }],
    ['a reader that writes', 'ReadOnly', undefined, { Action: 's3:PutObject', Resource: 'arn:aws:s3:::BUCKET/*' }],
    ['a writer that reads', 'WriteOnly', undefined, { Action: 's3:GetObject', Resource: 'arn:aws:s3:::BUCKET/*' }],
    ['other buckets', 'ReadOnly', undefined, { Action: 's3:GetObject', Resource: 'arn:aws:s3:::*/*' }],
    ['the names of buckets', 'ReadOnly', undefined, { Action: 's3:ListAllMyBuckets', Resource: '*' }],
    ['another bucket of its own', 'ReadOnly', undefined, { Action: 's3:CreateBucket', Resource: '*' }],
    ['tags', 'ReadWrite', undefined, { Action: 's3:PutBucketTagging', Resource: 'arn:aws:s3:::BUCKET' }],
    ['policies of buckets', 'ReadWrite', undefined, { Action: 's3:PutBucketPolicy', Resource: 'arn:aws:s3:::BUCKET' }],
    ['users', 'ReadOnly', undefined, { Action: 'iam:*', Resource: '*' }],
  ])(
    'a key with a policy that allows %s is not proven, leaves nothing, and made again it is',
    async (_, access, below, allowed) => {
      const { wanted, key } = await binding(access, below)
      const text = JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...allowed }] })
      const PolicyDocument = text.replaceAll('BUCKET', wanted.bucket)
      await asAdmin(({ iam }) =>
        iam.send(new PutUserPolicyCommand({ UserName: wanted.user, PolicyName: 'more', PolicyDocument })),
      )
      expect(judgeBucket(wanted, await observe(store, key, wanted))).toMatchObject({ kind: 'wider' })
      expect(await keysIn(wanted.bucket)).toEqual([])
      expect(await keysOf(store, wanted.user)).toHaveLength(1)
      const { Users = [] } = await asAdmin(({ iam }) => iam.send(new ListUsersCommand({})))
      expect(Users.map(({ UserName }) => UserName).filter(name => name?.startsWith('proof'))).toEqual([])
      await ensureUser(store, wanted)
      expect(judgeBucket(wanted, await observe(store, key, wanted))).toEqual({ kind: 'proven' })
    },
  )

  test('a key that the store does not know, or whose policy is missing, is waited for and then not proven', async () => {
    const { wanted, key } = await binding('ReadOnly')
    const wrong = { ...key, secretAccessKey: new SecretString('another-secret') }
    expect(judgeBucket(wanted, await observe(store, wrong, wanted, soon))).toMatchObject({ kind: 'narrower' })
    const empty = { ...wanted, user: userName('without', 'a') }
    await asAdmin(({ iam }) => iam.send(new CreateUserCommand({ UserName: empty.user })))
    expect(judgeBucket(empty, await observe(store, await issueKey(store, empty.user), empty, soon))).toMatchObject({
      kind: 'narrower',
    })
  })

  describe('a tenant with ReadWrite below a prefix', () => {
    let own: Awaited<ReturnType<typeof binding>>
    let other: string
    beforeAll(async () => {
      own = await binding('ReadWrite', prefix)
      other = await bucket()
      await asAdmin(({ s3 }) => s3.send(put(other, 'secret', 'of another tenant')))
      await asAdmin(({ s3 }) => s3.send(put(own.wanted.bucket, 'outside')))
    })
    const anyone = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: '*' }] }
    const open = JSON.stringify(anyone)

    test.each<[string, (session: Session, mine: string) => Promise<unknown>]>([
      ['reads outside of the prefix', ({ s3 }, Bucket) => s3.send(new GetObjectCommand({ Bucket, Key: 'outside' }))],
      ['writes outside of the prefix', ({ s3 }, Bucket) => s3.send(put(Bucket, 'outside'))],
      ['writes beside the prefix', ({ s3 }, Bucket) => s3.send(put(Bucket, 'images2/a'))],
      ['writes above the prefix', ({ s3 }, Bucket) => s3.send(put(Bucket, `${prefix}../outside`))],
      ['deletes outside of the prefix', ({ s3 }, Bucket) => s3.send(new DeleteObjectCommand({ Bucket, Key: 'outside' }))],
      ['lists without the prefix', ({ s3 }, Bucket) => s3.send(new ListObjectsV2Command({ Bucket }))],
      ['lists versions without the prefix', ({ s3 }, Bucket) => s3.send(new ListObjectVersionsCommand({ Bucket }))],
      ['lists another bucket', ({ s3 }) => s3.send(new ListObjectsV2Command({ Bucket: other }))],
      ['reads another bucket', ({ s3 }) => s3.send(new GetObjectCommand({ Bucket: other, Key: 'secret' }))],
      [
        'copies from another bucket',
        ({ s3 }, Bucket) => s3.send(new CopyObjectCommand({ Bucket, Key: `${prefix}c`, CopySource: `${other}/secret` })),
      ],
      [
        'copies from outside of the prefix',
        ({ s3 }, Bucket) => s3.send(new CopyObjectCommand({ Bucket, Key: `${prefix}c`, CopySource: `${Bucket}/outside` })),
      ],
      ['lists buckets', ({ s3 }) => s3.send(new ListBucketsCommand({}))],
      ['makes a bucket', ({ s3 }) => s3.send(new CreateBucketCommand({ Bucket: 'mine' }))],
      ['deletes its bucket', ({ s3 }, Bucket) => s3.send(new DeleteBucketCommand({ Bucket }))],
      ['reads the policy of its bucket', ({ s3 }, Bucket) => s3.send(new GetBucketPolicyCommand({ Bucket }))],
      ['opens its bucket by a policy', ({ s3 }, Bucket) => s3.send(new PutBucketPolicyCommand({ Bucket, Policy: open }))],
      ['opens its bucket by an ACL', ({ s3 }, Bucket) => s3.send(new PutBucketAclCommand({ Bucket, ACL: 'public-read' }))],
      [
        'hands its bucket over by a tag',
        ({ s3 }, Bucket) =>
          s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'sekisho-owner', Value: 'x' }] } })),
      ],
      [
        'switches versions on',
        ({ s3 }, Bucket) => s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } })),
      ],
      [
        'opens its bucket to web pages',
        ({ s3 }, Bucket) =>
          s3.send(
            new PutBucketCorsCommand({
              Bucket,
              CORSConfiguration: { CORSRules: [{ AllowedOrigins: ['*'], AllowedMethods: ['GET'] }] },
            }),
          ),
      ],
      [
        'begins an upload outside of the prefix',
        ({ s3 }, Bucket) => s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'outside' })),
      ],
      ['lists users', ({ iam }) => iam.send(new ListUsersCommand({}))],
      ['asks who it is', ({ iam }) => iam.send(new GetUserCommand({}))],
      ['lists its keys', ({ iam }) => iam.send(new ListAccessKeysCommand({}))],
      [
        'gives itself more',
        ({ iam }) => iam.send(new PutUserPolicyCommand({ UserName: own.wanted.user, PolicyName: 'more', PolicyDocument: open })),
      ],
      ['makes a user', ({ iam }) => iam.send(new CreateUserCommand({ UserName: 'mine' }))],
    ])('%s: refused', async (_, attempt) => {
      await expect(as(own.key, session => attempt(session, own.wanted.bucket))).rejects.toMatchObject(refused)
    })

    test('can learn whether a name is taken, from a store that answers so: names say nothing', async () => {
      const asked = as(own.key, ({ s3 }) => s3.send(new ListObjectsV2Command({ Bucket: 'absent' })))
      await expect(asked).rejects.toMatchObject({ name: 'NoSuchBucket' })
    })
  })

  describe('names that are paths out of the bucket', () => {
    const uploads = Array.from({ length: 6 }, (_, depth) => '../'.repeat(depth + 1))
    const remove = (Bucket: string, Key: string) => new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key }] } })
    const part = { PartNumber: 1, ETag: '"0f343b0931126a20f133d67c2b018a3b"' }
    const ends = ['', '/', '/..'] as const

    test.each<[string, (s3: S3Client, mine: string, other: string) => readonly Promise<unknown>[]]>([
      [
        'deleted by its name',
        (s3, mine, other) => ['..', './..', 'a/../..'].map(at => s3.send(remove(mine, `${at}/${other}/secret`))),
      ],
      [
        'ended as an upload',
        (s3, Bucket, other) =>
          ends.flatMap(end =>
            uploads.map(at => s3.send(new AbortMultipartUploadCommand({ Bucket, Key: 'a', UploadId: `${at}${other}${end}` }))),
          ),
      ],
      [
        'written as a part of an upload',
        (s3, Bucket, other) =>
          uploads.map(at =>
            s3.send(new UploadPartCommand({ Bucket, Key: 'a', PartNumber: 1, UploadId: `${at}${other}`, Body: 'text' })),
          ),
      ],
      [
        'completed as an upload',
        (s3, Bucket, other) =>
          uploads.map(at =>
            s3.send(
              new CompleteMultipartUploadCommand({
                Bucket,
                Key: 'a',
                UploadId: `${at}${other}`,
                MultipartUpload: { Parts: [part] },
              }),
            ),
          ),
      ],
      [
        'listed as an upload',
        (s3, Bucket, other) => uploads.map(at => s3.send(new ListPartsCommand({ Bucket, Key: 'a', UploadId: `${at}${other}` }))),
      ],
    ])('the bucket of another tenant is not %s', async (_, attempts) => {
      const [own, other] = [await binding('ReadWrite'), await bucket()]
      await asAdmin(({ s3 }) => s3.send(put(other, 'secret', 'of another tenant')))
      const outcomes = await as(own.key, ({ s3 }) => Promise.allSettled(attempts(s3, own.wanted.bucket, other)))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([])
      expect(await keysIn(other)).toEqual(['secret'])
    })
  })

  test('two slots have a key each: either works, the one that ends is refused and the other goes on; a new key ends the former one', async () => {
    const a = await binding('ReadWrite')
    const b = { ...a.wanted, user: userName('binding-of-b', 'b') }
    await ensureUser(store, b)
    const second = await issueKey(store, b.user)
    const name = a.wanted.bucket
    for (const key of [a.key, second]) await as(key, ({ s3 }) => s3.send(put(name, 'a')))
    expect(await liveUsers(store, [a.wanted.user, b.user, userName('absent', 'a')])).toEqual(new Set([a.wanted.user, b.user]))
    await dropKey(store, { user: a.wanted.user, id: a.key.accessKeyId })
    await expect(as(a.key, ({ s3 }) => s3.send(put(name, 'a')))).rejects.toMatchObject(refused)
    await as(second, ({ s3 }) => s3.send(put(name, 'a')))
    const third = await issueKey(store, b.user)
    await expect(as(second, ({ s3 }) => s3.send(put(name, 'a')))).rejects.toMatchObject(refused)
    await as(third, ({ s3 }) => s3.send(put(name, 'a')))
    expect((await keysOf(store, b.user)).map(({ id }) => id)).toEqual([third.accessKeyId])
    for (const _ of ['once', 'again']) {
      await dropUser(store, b.user)
      await dropKey(store, { user: b.user, id: third.accessKeyId })
    }
    await expect(as(third, ({ s3 }) => s3.send(put(name, 'a')))).rejects.toMatchObject(refused)
    expect(await liveUsers(store, [a.wanted.user, b.user])).toEqual(new Set())
  })

  test('a bucket that has something is full; with leave it is emptied in bounded steps, versions, markers and uploads too', async () => {
    const name = owner()
    await ensureBucket(store, { name, owner: name, versioning: true }, true)
    const objects = 2_600
    for (let first = 0; first < objects; first += 50)
      await asAdmin(({ s3 }) => Promise.all(Array.from({ length: 50 }, (_, index) => s3.send(put(name, `k${first + index}`)))))
    await asAdmin(({ s3 }) => s3.send(new DeleteObjectCommand({ Bucket: name, Key: 'k1' })))
    await asAdmin(({ s3 }) => s3.send(new CreateMultipartUploadCommand({ Bucket: name, Key: 'unfinished' })))
    expect(await usageOf(store, name)).toEqual({ bytes: objects * 4, objects: objects - 1, complete: true })
    expect(await removeBucket(store, { name, owner: name, empty: false, wasComplete: true })).toBe('full')
    const steps: string[] = []
    while (steps.at(-1) !== 'gone') steps.push(await removeBucket(store, { name, owner: name, empty: true, wasComplete: true }))
    expect(steps.length).toBeLessThanOrEqual(3)
    expect(await removeBucket(store, { name, owner: name, empty: true, wasComplete: true })).toBe('gone')
    await expect(usageOf(store, name)).rejects.toMatchObject({ kind: 'refused', code: 'NoSuchBucket' })
  })

  test('the platform’s own bucket is made again where it is missing, and goes with the class', async () => {
    const { wanted, key } = await binding('ReadOnly')
    for (const _ of ['once', 'again']) await removeProbe(store)
    expect(judgeBucket(wanted, await observe(store, key, wanted))).toEqual({ kind: 'proven' })
  })

  test('a store that crashes is away, and comes back with all it had; a key that it does not know is said', async () => {
    const { wanted, key } = await binding('ReadWrite')
    await server.crash()
    onTestFinished(() => server.restart())
    const failure = await ensureBucket(store, { name: wanted.bucket, owner: wanted.bucket }, true).catch(
      (error: unknown) => error,
    )
    expect(troubleOf(failure)).toMatchObject({ kind: 'away' })
    await expect(observe(store, key, wanted, soon)).rejects.toMatchObject({ kind: 'away' })
    await server.restart()
    await as(key, ({ s3 }) => s3.send(put(wanted.bucket, 'a')))
    const secret = new SecretString('not-the-secret-of-the-administrator')
    const wrong = connectStore({ ...server, id: 'the-class' }, { accessKeyId: server.key.accessKeyId, secretAccessKey: secret })
    const refusal = await checkStore(wrong).catch((error: unknown) => error)
    wrong.close()
    expect(troubleOf(refusal)).toMatchObject({ kind: 'login' })
    expect(JSON.stringify(refusal, Object.getOwnPropertyNames(refusal))).not.toContain(secret.reveal())
  })

  test('a store that takes connections and never answers is away, within its limit', async () => {
    const silent = createServer(socket => socket.on('error', () => undefined))
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void silent.close())
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const endpoint = new URL(`http://127.0.0.1:${port}`)
    const slow = connectStore({ ...server, endpoint, id: 'slow', answerMilliseconds: 200 }, server.key)
    onTestFinished(() => slow.close())
    expect(troubleOf(await checkStore(slow).catch((error: unknown) => error))).toMatchObject({ kind: 'away' })
  })
})

test('a store without versions: the capability is missing, and buckets are counted and emptied', async () => {
  const server = await startVersitygw({ keepsVersions: false })
  onTestFinished(() => server.stop())
  const store = connectStore({ ...server, id: 'the-class' }, server.key)
  onTestFinished(() => store.close())
  expect(await checkStore(store)).toMatchObject({ capabilities: { versioning: false, cors: true } })
  const name = bucketId({ tenantUid: 't', namespace: 'n', name: 'files' })
  await ensureBucket(store, { name, owner: name, versioning: false }, true)
  await expect(ensureBucket(store, { name, owner: name, versioning: true }, true)).rejects.toMatchObject({ kind: 'refused' })
  await store.asAdministrator(({ s3 }) => s3.send(new PutObjectCommand({ Bucket: name, Key: 'a', Body: 'text' })))
  expect(await usageOf(store, name)).toEqual({ bytes: 4, objects: 1, complete: true })
  const wanted = { bucket: name, access: 'ReadWrite', user: userName('binding', 'a') } as const
  await ensureUser(store, wanted)
  expect(judgeBucket(wanted, await observe(store, await issueKey(store, wanted.user), wanted))).toEqual({ kind: 'proven' })
  expect(await removeBucket(store, { name, owner: name, empty: true, wasComplete: true })).toBe('gone')
})

test('an encrypted store is reached by its own authority, and by no other', async () => {
  const server = await startVersitygw({ encrypted: true })
  onTestFinished(() => server.stop())
  const store = connectStore({ ...server, id: 'the-class' }, server.key)
  const untrusting = connectStore({ ...server, ca: undefined, id: 'the-class' }, server.key)
  for (const one of [store, untrusting]) onTestFinished(() => one.close())
  expect(await checkStore(store)).toMatchObject({ capabilities: { versioning: true } })
  const wanted = { bucket: 'photos', access: 'ReadOnly', user: userName('binding', 'a') } as const
  await ensureBucket(store, { name: wanted.bucket, owner: 'o' }, true)
  await ensureUser(store, wanted)
  expect(judgeBucket(wanted, await observe(store, await issueKey(store, wanted.user), wanted))).toEqual({ kind: 'proven' })
  expect(troubleOf(await checkStore(untrusting).catch((error: unknown) => error))).toMatchObject({ kind: 'away' })
})
