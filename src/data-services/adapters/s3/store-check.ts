// Whether a store can be shared by tenants, and what it can do: tried in a bucket of the platform's own, which stays. In it is an
// object that no key of a tenant may ever reach.
import { ListUsersCommand } from '@aws-sdk/client-iam'
import {
  DeleteBucketCorsCommand,
  DeleteBucketLifecycleCommand,
  HeadObjectCommand,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { isNotImplemented, StoreError, statusOf } from '../../../object-store/store-error.ts'
import { ensureBucket, removeBucket } from './buckets.ts'
import { probeName } from './names.ts'
import type { Store } from './store.ts'

export type Capabilities = { readonly versioning: boolean; readonly cors: boolean; readonly lifecycle: boolean }

/** In the bucket of the platform. */
export const probeObject = 'probe'
const notFound = 404

/** Asks S3 and IAM as the administrator, and tries what the store can do. Rejects with a StoreError. */
export async function checkStore(store: Store): Promise<{ readonly capabilities: Capabilities }> {
  const Bucket = await ensureProbe(store)
  return store.asAdministrator(async ({ s3, iam }) => {
    await iam.send(new ListUsersCommand({ MaxItems: 1 }))
    const versioning = await has(() =>
      s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Suspended' } })),
    )
    const cors = await has(async () => {
      const rule = { AllowedOrigins: ['https://probe.invalid'], AllowedMethods: ['GET'] }
      await s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }))
      await s3.send(new DeleteBucketCorsCommand({ Bucket }))
    })
    const lifecycle = await has(async () => {
      const end = { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }
      const rule = { ID: 'probe', Status: 'Enabled', Filter: { Prefix: '' }, ...end } as const
      await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: [rule] } }))
      await s3.send(new DeleteBucketLifecycleCommand({ Bucket }))
    })
    return { capabilities: { versioning, cors, lifecycle } }
  })
}

/** Resolves to the name of the platform's own bucket, which has its object. Again it changes nothing. */
export async function ensureProbe(store: Store): Promise<string> {
  const name = probeName(store.address.id)
  if ((await ensureBucket(store, { name, owner: name }, true)) === 'foreign')
    throw new StoreError('refused', `the bucket ${name} of the platform belongs to somebody else`, { cause: undefined })
  await store.asAdministrator(async ({ s3 }) => {
    const object = { Bucket: name, Key: probeObject }
    try {
      await s3.send(new HeadObjectCommand(object))
    } catch (error) {
      if (statusOf(error) !== notFound) throw error
      await s3.send(new PutObjectCommand({ ...object, Body: 'of the platform' }))
    }
  })
  return name
}

/** Ends the platform's own bucket, when no class uses the store any more. Idempotent. */
export async function removeProbe(store: Store): Promise<void> {
  const name = probeName(store.address.id)
  await removeBucket(store, { name, owner: name, empty: true, wasComplete: false })
}

async function has(attempt: () => Promise<unknown>): Promise<boolean> {
  try {
    await attempt()
    return true
  } catch (error) {
    if (isNotImplemented(error)) return false
    throw error
  }
}
