// A bucket in a shared store, its key, and an application that uses it: they come, the key is replaced, and they are deleted. At
// the end the store itself is asked: what it has, that the delivered key opens it, and that the application's object is there.
import { bucket } from '../../../src/api/services/bucket.ts'
import { serviceBinding } from '../../../src/api/services/service-binding.ts'
import { serviceClass } from '../../../src/api/services/service-class.ts'
import type { StoreKey } from '../../../src/data-services/adapters/s3/store.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import type { Environment } from '../environment/environment.ts'
import { enrol, offer } from '../environment/services.ts'
import type { TenantsStore } from '../environment/tenants-store.ts'
import type { Scenario } from '../scenario.ts'
import {
  bind,
  deleteBoth,
  deleteClass,
  type Held,
  heldBy,
  isDelivered,
  isOffered,
  replaceCredential,
  rotationClockRate,
} from './services.ts'
import { ready } from './waits.ts'

function storeOf({ buckets }: Environment): TenantsStore {
  if (buckets === undefined) throw new Error('the environment has no store of buckets')
  return buckets
}

const enrolled = (environment: Environment): Promise<void> => enrol(environment, storeOf(environment).account)

function offerBuckets(environment: Environment): Promise<void> {
  const s3 = { ...storeOf(environment).s3, adminSecret: { name: environment.prefix } }
  const plans = [{ name: 'small', default: true, limits: { storage: '1Gi' } }]
  return offer(environment, { type: 'bucket', provider: { s3 }, plans, credentials: { overlapMinutes: 5 } })
}

/** Resolves when the application could begin. */
async function have(environment: Environment): Promise<void> {
  const cors = [{ origins: ['https://shop.example.com'], methods: ['GET'] }]
  const spec = { class: environment.prefix, versioning: true, cors, whenDeleted: 'Delete', emptyWhenDeleted: true }
  await Promise.all([environment.apply(bucket, 'pictures', { spec }), bind(environment, 'Bucket', 'pictures')])
  await ready(environment, bucket, 'pictures', 'Provisioned')
  await isDelivered(environment)
}

function keyOf({ textOf }: Held): StoreKey {
  return { accessKeyId: textOf('access-key-id'), secretAccessKey: new SecretString(textOf('secret-access-key')) }
}

async function storeObject(environment: Environment): Promise<void> {
  const held = await heldBy(environment)
  if (held === undefined) throw new Error('there is no Secret with a key')
  await storeOf(environment).put(keyOf(held), held.textOf('bucket'), 'kept', 'by the application')
}

async function used(environment: Environment): Promise<void> {
  await enrolled(environment)
  await offerBuckets(environment)
  await isOffered(environment)
  await have(environment)
  await storeObject(environment)
}

const shared = {
  environment: { component: 'data-services', namespace: 'made', github: 'none', services: 'buckets' },
  shortPoints: /store:/,
  compares: [serviceClass, bucket, serviceBinding],
  async more(environment: Environment): Promise<unknown> {
    const held = await heldBy(environment)
    const object = held && (await storeOf(environment).read(keyOf(held), held.textOf('bucket'), 'kept'))
    return { version: held?.version, object, contents: await storeOf(environment).contents() }
  },
} as const

export const bucketScenario: Scenario = {
  ...shared,
  name: 'bucket: class, bucket and key',
  controllers: ['service-class', 'bucket', 'service-binding'],
  prepare: enrolled,
  async act(environment) {
    await offerBuckets(environment)
    await have(environment)
    await storeObject(environment)
  },
}

export const bucketRotation: Scenario = {
  ...shared,
  name: 'bucket: replace the key',
  controllers: ['service-binding'],
  prepare: used,
  clockRate: rotationClockRate,
  act: replaceCredential,
}

export const bucketDeletion: Scenario = {
  ...shared,
  name: 'bucket: delete',
  controllers: ['service-class', 'bucket', 'service-binding'],
  prepare: used,
  async act(environment) {
    await deleteBoth(environment, bucket, 'pictures')
    await deleteClass(environment)
  },
}
