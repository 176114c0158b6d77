// Which buckets tenants left in the store when their Buckets were deleted: one object for each in the platform's own bucket,
// which no key of a tenant reaches. A store cannot be asked for the buckets of one owner.
import { ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { tenantMark } from '../postgresql/identifiers.ts'
import { ownerOf } from './buckets.ts'
import { deleteObjects } from './contents.ts'
import type { Store } from './store.ts'
import { ensureProbe } from './store-check.ts'

type LeftBucket = { readonly name: string; readonly owner: string; readonly tenantUid: string }

const beginningOf = (tenantUid: string): string => `kept/${tenantMark(tenantUid)}/`
/** Neither part has a dot. */
const keyOf = ({ name, owner, tenantUid }: LeftBucket): string => `${beginningOf(tenantUid)}${owner}.${name}.kept`

/**
 * Records that the bucket is left, unless the tenant left `most` others that are still there. Again it changes nothing. Resolves
 * to whether it is recorded. Rejects with a StoreError.
 */
export function recordKept(store: Store, left: LeftBucket, most: number): Promise<boolean> {
  return inTurn(store, left, async (s3, Bucket) => {
    const beginning = beginningOf(left.tenantUid)
    // Never many: each was counted before it was written.
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: beginning }))
    const keys = Contents.flatMap(({ Key }) => Key ?? [])
    if (keys.includes(keyOf(left))) return true
    if (keys.length >= most && (await stillThere(s3, Bucket, keys, beginning.length)) >= most) return false
    await s3.send(new PutObjectCommand({ Bucket, Key: keyOf(left), Body: 'kept' }))
    return true
  })
}

/** The bucket is used again. Idempotent. Rejects with a StoreError. */
export function forgetKept(store: Store, left: LeftBucket): Promise<void> {
  return inTurn(store, left, (s3, Bucket) => deleteObjects(s3, Bucket, keyOf(left)))
}

function inTurn<T>(store: Store, { tenantUid }: LeftBucket, work: (s3: S3Client, bucket: string) => Promise<T>): Promise<T> {
  return store.turns.run(beginningOf(tenantUid), async () => {
    const bucket = await ensureProbe(store)
    return store.asAdministrator(({ s3 }) => work(s3, bucket))
  })
}

/** How many of them the store still has; what a platform admin removed there is forgotten. */
async function stillThere(s3: S3Client, bucket: string, keys: readonly string[], start: number): Promise<number> {
  let count = 0
  for (const key of keys) {
    const [owner = '', name = ''] = key.slice(start).split('.')
    const found = await ownerOf(s3, name, false)
    // Of one without a tag nobody knows whose it is: it counts.
    if (found === owner || found === null) count++
    else await deleteObjects(s3, bucket, key)
  }
  return count
}
