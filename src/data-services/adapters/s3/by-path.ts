// What a key reaches by names that a store on files can take for paths: of objects in a body, and of uploads. A store of objects
// takes them as they stand, and may say that it deleted what never was, so what counts is what became of the other bucket.
import { DeleteObjectsCommand, HeadObjectCommand, ListPartsCommand, type S3Client } from '@aws-sdk/client-s3'
import { statusOf, storeError } from '../../../object-store/store-error.ts'
import type { ByPath, Outcome } from '../../proofs/judge-bucket.ts'
import type { Scene } from './attempts.ts'

const up = '../'
/** From where a store on files keeps the parts of an upload up to its buckets: versitygw needs four. */
const depths = [1, 2, 3, 4, 5, 6]
const [badRequest, notFound, serverError] = [400, 404, 500]

/** Names of the object in the other bucket, as paths from the own one and from below the prefix. */
export function namesByPath({ prefix, object, other }: Pick<Scene, 'prefix' | 'object' | 'other'>): readonly string[] {
  const there = `${other.bucket}/${object}`
  const parts = prefix.split('/').length - 1
  return [...new Set([`${up}${there}`, `${prefix}${up.repeat(parts + 1)}${there}`])]
}

/**
 * Tries to delete the object of the proof from the other bucket, in which it has to be, and to look into that bucket as if it
 * were an upload. `administrator` looks what became of it. Rejects with a StoreError when the store does not answer.
 */
export async function outcomesByPath(scene: Scene, administrator: S3Client): Promise<Readonly<Record<ByPath, Outcome>>> {
  return { removeByPath: await removeByPath(scene, administrator), uploadByPath: await uploadByPath(scene) }
}

async function removeByPath(scene: Scene, administrator: S3Client): Promise<Outcome> {
  const { session, bucket, object, other } = scene
  const Objects = namesByPath(scene).map(Key => ({ Key }))
  await isAnswered(session.s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } })))
  try {
    await administrator.send(new HeadObjectCommand({ Bucket: other.bucket, Key: object }))
    return 'refused'
  } catch (error) {
    if (statusOf(error) === notFound) return 'done'
    throw storeError(error)
  }
}

async function uploadByPath({ session, bucket, prefix, object, other }: Scene): Promise<Outcome> {
  for (const depth of depths) {
    const UploadId = `${up.repeat(depth)}${other.bucket}`
    if (await isAnswered(session.s3.send(new ListPartsCommand({ Bucket: bucket, Key: `${prefix}${object}`, UploadId }))))
      return 'done'
  }
  return 'refused'
}

/** False when the store said no, whatever its reason. */
async function isAnswered(request: Promise<unknown>): Promise<boolean> {
  try {
    await request
    return true
  } catch (error) {
    const status = statusOf(error)
    if (status !== undefined && status >= badRequest && status < serverError) return false
    throw storeError(error)
  }
}
