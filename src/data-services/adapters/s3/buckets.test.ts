// What the adapter makes of answers that the store of the integration tests does not give.
import {
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { createKeyedMutex } from '../../../lib/limits/keyed-mutex.ts'
import { storeError } from '../../../object-store/store-error.ts'
import { ensureBucket, removeBucket } from './buckets.ts'
import { emptyStep } from './contents.ts'
import type { Store } from './store.ts'

/** A store that lets nobody read the tags of a bucket. */
function secretive() {
  const asked: string[] = []
  const send = async (command: object): Promise<never> => {
    asked.push(command.constructor.name)
    throw new S3ServiceException({ name: 'AccessDenied', $fault: 'client', $metadata: { httpStatusCode: 403 } })
  }
  const asAdministrator = async (work: (session: unknown) => Promise<unknown>): Promise<unknown> => {
    try {
      return await work({ s3: { send } })
    } catch (error) {
      throw storeError(error)
    }
  }
  const store = { address: { region: 'us-east-1' }, turns: createKeyedMutex(), asAdministrator } as unknown as Store
  return { asked, store }
}

const [name, owner] = ['pictures', 'b1']
const refused = { name: 'StoreError', kind: 'refused', code: 'AccessDenied' }

test('a bucket that was complete, and whose tags cannot be read, is neither gone nor another’s', async () => {
  const { store, asked } = secretive()
  await expect(removeBucket(store, { name, owner, empty: true, wasComplete: true })).rejects.toMatchObject(refused)
  await expect(ensureBucket(store, { name, owner }, false)).rejects.toMatchObject(refused)
  expect(new Set(asked)).toEqual(new Set(['GetBucketTaggingCommand']))
})

test('one that never was is another account’s', async () => {
  const { store } = secretive()
  expect(await ensureBucket(store, { name, owner }, true)).toBe('foreign')
  expect(await removeBucket(store, { name, owner, empty: true, wasComplete: false })).toBe('gone')
})

/** A store that deletes by a rule what it has just listed: an object, a version and an upload. It answers each of these codes. */
function expiring(ofObject: string, ofUpload: string): S3Client {
  let lists = 0
  const answerTo = (command: object): object => {
    if (command instanceof ListObjectVersionsCommand) return lists++ === 0 ? { Versions: [{ Key: 'a', VersionId: '1' }] } : {}
    if (command instanceof DeleteObjectsCommand) return { Errors: [{ Key: 'a', VersionId: '1', Code: ofObject }] }
    if (command instanceof ListMultipartUploadsCommand) return { Uploads: [{ Key: 'b', UploadId: '1' }] }
    throw new S3ServiceException({ name: ofUpload, $fault: 'client', $metadata: { httpStatusCode: 404 } })
  }
  return { send: async (command: object) => answerTo(command) } as unknown as S3Client
}

test.each(['NoSuchKey', 'NoSuchVersion'])('what a rule of the store deleted meanwhile (%s) is empty, too', async code => {
  expect(await emptyStep(expiring(code, 'NoSuchUpload'), name)).toBe(true)
})

test('what the store refuses to delete is said', async () => {
  const refusal = 'the store deleted all but 1 objects: AccessDenied'
  await expect(emptyStep(expiring('AccessDenied', 'NoSuchUpload'), name)).rejects.toThrow(refusal)
  await expect(emptyStep(expiring('NoSuchKey', 'AccessDenied'), name)).rejects.toMatchObject({ name: 'AccessDenied' })
})
