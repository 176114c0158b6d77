// What is in a bucket: every version, marker of a deletion and unfinished upload. Each call ends after a bounded number of
// requests, however many objects there are.
import {
  AbortMultipartUploadCommand,
  type AbortMultipartUploadCommandInput,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  type ObjectIdentifier,
  type S3Client,
} from '@aws-sdk/client-s3'
import { codeOf, isNotImplemented, StoreError } from '../../../object-store/store-error.ts'
import { requireBucketName } from './names.ts'
import type { Store } from './store.ts'

type Version = {
  readonly key: string
  readonly id: string | undefined
  readonly bytes: number
  /** `marker`: of a deletion. */
  readonly kind: 'object' | 'former' | 'marker'
}
type Cursor = { readonly key: string | undefined; readonly version: string | undefined }
type Page = { readonly versions: readonly Version[]; readonly next: Cursor | undefined }

/** A store answers no more than this at once. */
const pageSize = 1_000
const pagesOfEmptying = 5
const pagesOfUsage = 100
const uploadsAtOnce = 16
/** The store itself deleted it since it was listed, by a rule of the bucket. */
const absent: ReadonlySet<string | undefined> = new Set(['NoSuchKey', 'NoSuchVersion', 'NoSuchUpload'])

/** Empties a part of the bucket. Resolves to whether nothing is left. */
export async function emptyStep(s3: S3Client, bucket: string): Promise<boolean> {
  for (let page = 0; page < pagesOfEmptying; page++) {
    const { versions } = await pageOf(s3, bucket)
    if (versions.length === 0) return abortUploads(s3, bucket)
    await deleteVersions(s3, bucket, versions)
  }
  return false
}

/** Deletes every version of the objects whose keys begin so; a thousand at most. */
export async function deleteObjects(s3: S3Client, bucket: string, beginning: string): Promise<void> {
  const { versions } = await pageOf(s3, bucket, undefined, beginning)
  if (versions.length > 0) await deleteVersions(s3, bucket, versions)
}

async function deleteVersions(s3: S3Client, bucket: string, versions: readonly Version[]): Promise<void> {
  const Objects = versions.map(({ key, id }): ObjectIdentifier => ({ Key: key, ...(id !== undefined && { VersionId: id }) }))
  const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }))
  const left = Errors.filter(({ Code }) => !absent.has(Code))
  const [first] = left
  if (first !== undefined)
    throw new StoreError('refused', `the store deleted all but ${left.length} objects: ${first.Code}`, { cause: undefined })
}

/** The first thousand unfinished uploads. Resolves to whether there are no others. */
async function abortUploads(s3: S3Client, bucket: string): Promise<boolean> {
  const listed = await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket, MaxUploads: pageSize }))
  const uploads = listed.Uploads ?? []
  for (let first = 0; first < uploads.length; first += uploadsAtOnce) {
    const some = uploads.slice(first, first + uploadsAtOnce)
    await Promise.all(some.map(({ Key, UploadId }) => abortUpload(s3, { Bucket: bucket, Key, UploadId })))
  }
  return listed.IsTruncated !== true
}

async function abortUpload(s3: S3Client, upload: AbortMultipartUploadCommandInput): Promise<void> {
  try {
    await s3.send(new AbortMultipartUploadCommand(upload))
  } catch (error) {
    if (!absent.has(codeOf(error))) throw error
  }
}

/** `complete` is false when there is more than was counted: then both are lower bounds. */
export type BucketUsage = { readonly bytes: number; readonly objects: number; readonly complete: boolean }

/**
 * Bytes of all versions, and how many objects there are now. Unfinished uploads are not counted. Rejects with a StoreError,
 * also when there is no such bucket.
 */
export function usageOf(store: Store, name: string): Promise<BucketUsage> {
  const bucket = requireBucketName(name)
  return store.asAdministrator(async ({ s3 }) => {
    let usage = { bytes: 0, objects: 0 }
    let [cursor, last]: [Cursor?, Version?] = []
    for (let page = 0; page < pagesOfUsage; page++) {
      const { versions, next } = await pageOf(s3, bucket, cursor)
      const kept = versions.filter(({ kind }) => kind !== 'marker')
      // versitygw begins a page with the version that ended the one before it.
      usage = counted(usage, isSame(kept[0], last) ? kept.slice(1) : kept)
      if (next === undefined) return { ...usage, complete: true }
      cursor = next
      last = kept.at(-1) ?? last
    }
    return { ...usage, complete: false }
  })
}

function isSame(one: Version | undefined, other: Version | undefined): boolean {
  return one !== undefined && one.key === other?.key && one.id === other.id
}

function counted(usage: Omit<BucketUsage, 'complete'>, versions: readonly Version[]): Omit<BucketUsage, 'complete'> {
  return versions.reduce(
    ({ bytes, objects }, version) => ({ bytes: bytes + version.bytes, objects: objects + (version.kind === 'object' ? 1 : 0) }),
    usage,
  )
}

async function pageOf(s3: S3Client, bucket: string, cursor?: Cursor, beginning?: string): Promise<Page> {
  const common = { Bucket: bucket, MaxKeys: pageSize, ...(beginning !== undefined && { Prefix: beginning }) }
  try {
    const answer = await s3.send(
      new ListObjectVersionsCommand({ ...common, KeyMarker: cursor?.key, VersionIdMarker: cursor?.version }),
    )
    const versions = (answer.Versions ?? []).map(({ Key = '', VersionId, Size = 0, IsLatest = false }): Version => {
      return { key: Key, id: VersionId, bytes: Size, kind: IsLatest ? 'object' : 'former' }
    })
    const markers = (answer.DeleteMarkers ?? []).map(({ Key = '', VersionId }): Version => {
      return { key: Key, id: VersionId, bytes: 0, kind: 'marker' }
    })
    const next = answer.IsTruncated === true ? { key: answer.NextKeyMarker, version: answer.NextVersionIdMarker } : undefined
    return { versions: [...versions, ...markers], next }
  } catch (error) {
    // A store that keeps no versions.
    if (!isNotImplemented(error)) throw error
    const answer = await s3.send(new ListObjectsV2Command({ ...common, StartAfter: cursor?.key }))
    const versions = (answer.Contents ?? []).map(({ Key = '', Size = 0 }): Version => {
      return { key: Key, id: undefined, bytes: Size, kind: 'object' }
    })
    return { versions, next: answer.IsTruncated === true ? { key: versions.at(-1)?.key, version: undefined } : undefined }
  }
}
