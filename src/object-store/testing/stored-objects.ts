// What is in a bucket of a test's store, by its administrator: whatever somebody can do who has taken it over.
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'

export type StoredObject = { readonly key: string; readonly text: string }

export function storedObjects(s3: S3Client, bucket: string) {
  const read = async (key: string): Promise<StoredObject> => {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
    return { key, text: (await Body?.transformToString()) ?? '' }
  }
  return {
    /** By name. */
    async all(): Promise<readonly StoredObject[]> {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }))
      return Promise.all(Contents.map(({ Key = '' }) => read(Key)))
    },
    /** Of all objects, also what was written over. */
    async versions(): Promise<number> {
      const { Versions = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: bucket }))
      return Versions.length
    },
    async write(key: string, text: string): Promise<void> {
      await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: text }))
    },
    async remove(key: string): Promise<void> {
      await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }))
    },
  }
}
