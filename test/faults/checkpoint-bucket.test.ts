// Signed checkpoints in a bucket, on a real store: each is written once, and what the store missed while it was away, refused the
// key, or lost comes later. What somebody changed there is said and never written over. None of it touches the log.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startVersitygw, type TestStore } from '../../dev/versitygw/start-versitygw.ts'
import { configMaps } from '../../src/api/builtin/index.ts'
import { createCheckpointExport } from '../../src/broker/audit/checkpoint-export.ts'
import { checkpointsKey } from '../../src/broker/audit/checkpoint-map.ts'
import { openCheckpoints } from '../../src/broker/audit/open-checkpoints.ts'
import { type BucketState, createCheckpointBucket } from '../../src/broker/audit/places/checkpoint-bucket.ts'
import { readCheckpoints } from '../../src/cli/files/checkpoint-file.ts'
import { ensureBucket } from '../../src/data-services/adapters/s3/buckets.ts'
import { bucketId } from '../../src/data-services/adapters/s3/names.ts'
import { connectStore, type Store } from '../../src/data-services/adapters/s3/store.ts'
import { type IssuerKeys, loadIssuerKeys } from '../../src/identity/oidc/issuer-keys.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type KeptObjects, openKeptObjects } from '../../src/object-store/kept-objects.ts'
import { openS3, openSockets } from '../../src/object-store/s3-client.ts'
import { storedObjects } from '../../src/object-store/testing/stored-objects.ts'
import { movableClock, openTestStore, type TestStore as TestDatabase } from '../fixtures/databases.ts'
import { createMemoryKube, type MemoryKube } from './fixtures/memory-kube.ts'

const issuer = 'https://sekisho.test'
const record = { action: 'token.minted', actor: 'a', object: 'o', outcome: 'allowed', reason: 'r', details: {} } as const
const clock = movableClock()
const hour = 3_600_000
const { signal } = new AbortController()
let server: TestStore
let administration: Store
let sockets: ReturnType<typeof openSockets>
let database: TestDatabase
let keys: IssuerKeys
let kube: MemoryKube
let count = 0
beforeAll(async () => {
  server = await startVersitygw({ encrypted: true })
  administration = connectStore({ ...server, id: 'the-class' }, server.key)
  sockets = openSockets(server)
  database = await openTestStore({ dataFolder: 'memory://' }, clock)
  keys = await loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, () => {})
})
afterAll(async () => {
  administration?.close()
  sockets?.close()
  await server?.stop()
  await database?.close()
})
beforeEach(() => {
  kube = createMemoryKube()
})

const errors: string[] = []
const log = { ...silentLog, error: (_fields: object, message: string) => void errors.push(message) }

/** A bucket of its own, what is in it, and a replica of the broker that writes there. */
async function place() {
  const name = bucketId({ tenantUid: `t${count++}`, namespace: 'n', name: 'checkpoints' })
  expect(await ensureBucket(administration, { name, owner: name, versioning: true }, true)).toBe('made')
  const states: BucketState[] = []
  const replica = (change: Partial<Parameters<typeof openKeptObjects>[0]> = {}, given?: KeptObjects) => {
    const objects = given ?? openKeptObjects({ ...server, bucket: name, ...change })
    onTestFinished(objects.close)
    const { client } = kube
    const observe = (state: BucketState) => void states.push(state)
    const deps = { kube: client, keys, issuer, clock, log, objects, prefix: 'audit/', observe }
    return createCheckpointBucket({ ...deps, everyMilliseconds: 60_000, isLeader: () => true })
  }
  return { name, states, replica, stored: storedObjects(openS3(server, server.key, sockets), name) }
}

/** The objects that are there count: a process that starts again finds them. */
function endsAfter(most: number, keep: KeptObjects['keep']): KeptObjects['keep'] {
  let count = 0
  return async (...object) => {
    if (count++ === most) throw new Error('the process has ended')
    return keep(...object)
  }
}

/** An entry and its checkpoint in the ConfigMap. */
async function checkpoint(): Promise<void> {
  clock.advance(1)
  await database.audit.append(record)
  const { audit } = database
  const deps = { kube: kube.client, audit, keys, issuer, clock, log: silentLog, everyMilliseconds: 60_000, isLeader: () => true }
  expect(await createCheckpointExport(deps).once()).toBe('written')
}

const complete = (different = 0): BucketState => ({ missing: 0, different })

test('each checkpoint is an object, also for a replica that knows of none; a folder of them attests the log', async () => {
  const { replica, stored } = await place()
  const first = replica()
  for (let round = 0; round < 3; round += 1) {
    await checkpoint()
    expect(await first.once(signal)).toEqual(complete())
  }
  const before = await stored.all()
  expect(before).toHaveLength(3)
  expect(before[0]?.key).toMatch(/^audit\/2026-01-01\/checkpoint-\d{16}-[0-9a-f]{16}\.jsonl$/)
  expect(await replica().once(signal)).toEqual(complete())
  expect(await stored.all()).toEqual(before)

  const folder = mkdtempSync(join(tmpdir(), 'sekisho-bucket-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [index, { text }] of before.entries()) writeFileSync(join(folder, `${index}.jsonl`), text)
  const { heads } = await readCheckpoints(folder, { keys: [] }, issuer)
  expect(heads.at(-1)).toMatchObject({ sequence: (await database.audit.head()).sequence })
})

test('a store that is away, and one that refuses the key, stop nothing; what they miss comes with the next round', async () => {
  const { replica, states, stored } = await place()
  const bucket = replica()
  await checkpoint()
  await server.crash()
  await expect(bucket.once(signal)).rejects.toMatchObject({ kind: 'away' })
  await checkpoint()
  await server.restart()
  const wrong = { accessKeyId: 'administrator', secretAccessKey: new SecretString('not the key') }
  await expect(replica({ key: wrong }).once(signal)).rejects.toMatchObject({
    kind: 'login',
    message: expect.not.stringContaining('not the key'),
  })
  await expect(replica({ bucket: 'nobodys' }).once(signal)).rejects.toMatchObject({ code: 'NoSuchBucket' })
  await expect(replica({ ca: undefined }).once(signal)).rejects.toMatchObject({ kind: 'away' })
  expect(states).toEqual([1, 2, 2, 2].map(missing => ({ missing, different: 0 })))
  expect(await bucket.once(signal)).toEqual(complete())
  expect(await stored.all()).toHaveLength(2)
})

test('two replicas at once, and one that ends after any object, leave each object once', async () => {
  const { name, replica, stored } = await place()
  for (let round = 0; round < 4; round += 1) await checkpoint()
  for (const written of [1, 2]) {
    const objects = openKeptObjects({ ...server, bucket: name })
    onTestFinished(objects.close)
    const ending = { ...objects, keep: endsAfter(written, objects.keep) }
    await expect(replica({}, ending).once(signal)).rejects.toThrow('the process has ended')
    expect(await stored.all()).toHaveLength(written)
  }
  expect(await Promise.all([replica().once(signal), replica().once(signal)])).toEqual([complete(), complete()])
  expect(await stored.all()).toHaveLength(4)
  expect(await stored.versions()).toBe(4)
})

test('what was changed is said every round and never written over; what was removed is written again within the hour', async () => {
  const { replica, stored } = await place()
  const bucket = replica()
  for (let round = 0; round < 2; round += 1) await checkpoint()
  await bucket.once(signal)
  const [changed, removed] = await stored.all()
  const forged = (changed?.text ?? '').replace('checkpoint', 'checkpoinT')
  await stored.write(changed?.key ?? '', forged)
  await stored.remove(removed?.key ?? '')
  errors.length = 0
  expect(await bucket.once(signal)).toEqual(complete())
  clock.advance(hour)
  for (let round = 0; round < 2; round += 1) expect(await bucket.once(signal)).toEqual(complete(1))
  expect(errors).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('they were changed, and are left as they are')))
  expect(await stored.all()).toEqual([{ ...changed, text: forged }, removed])
  await stored.write(changed?.key ?? '', forged.repeat(1000))
  expect(await replica().once(signal)).toEqual(complete(1))
})

test('the loops of the broker bring a checkpoint there as soon as it is signed, and only the leader says how many are missing', async () => {
  const { name, stored } = await place()
  const { audit } = database
  const metrics = new Registry()
  const auditBucket = { ...server, bucket: name, prefix: '' }
  const settings = { auditCheckpointSeconds: 86_400, auditCheckpointFolder: undefined, auditBucket }
  let leads = true
  const deps = { kube: kube.client, audit, keys, issuer, clock: systemClock, log: silentLog, settings, metrics }
  await audit.append(record)
  const loops = await openCheckpoints({ ...deps, isLeader: () => leads })
  for (const loop of loops) loop.start()
  await waitUntil('the object is there', async () => ((await stored.all()).length === 1 ? true : undefined))
  await Promise.all(loops.map(loop => loop.stop()))
  const missing = async () => (await metrics.getSingleMetric('sekisho_audit_bucket_missing_checkpoints')?.get())?.values[0]?.value
  expect(await missing()).not.toBeNaN()
  leads = false
  expect(await missing()).toBeNaN()
})

test('what is not signed by the platform is written nowhere', async () => {
  const { replica, stored } = await place()
  await checkpoint()
  const { client } = kube
  await client.mergePatch(
    configMaps,
    checkpointsKey,
    { data: { 'entry-0000000000000099': 'not.a.statement' } },
    { fieldManager: 'test' },
  )
  expect(await replica().once(signal)).toEqual(complete())
  expect(await stored.all()).toHaveLength(1)
})
