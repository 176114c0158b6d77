// What is tried with a new key, by the names that the judge knows. An attempt that would do harm if it were let through has a
// mistake that a store finds only after it asked who this is.
import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  ListAccessKeysCommand,
  ListUsersCommand,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetBucketPolicyCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketAclCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { statusOf, storeError } from '../../../object-store/store-error.ts'
import type { ByPath, Never, Outcome, Outside, Within } from '../../proofs/judge-bucket.ts'
import type { Session } from './store.ts'

export type Scene = {
  /** Of the key. */
  readonly session: Session
  readonly bucket: string
  /** With its slash, or empty. */
  readonly prefix: string
  readonly user: string
  /** Objects of the proof begin with it. The one of this name is there, below the prefix, outside and beside it. */
  readonly object: string
  /** The platform's bucket and the object in it. */
  readonly other: { readonly bucket: string; readonly object: string }
  /** What the attempt to make a bucket or a user would leave. */
  readonly made: string
}
/** Outside of a prefix, and begins as it does but for the slash. */
export function besideOf(prefix: string): string {
  return `${prefix.slice(0, -1)}2/`
}

type Attempts<N extends string> = Readonly<Record<N, () => Promise<unknown>>>

const notAValue = 'nothing'

export function attemptsWithin({ session: { s3 }, bucket, prefix, object }: Scene): Attempts<Within> {
  const own = { Bucket: bucket, Key: `${prefix}${object}` }
  const written = { Bucket: bucket, Key: `${prefix}${object}-written` }
  return {
    write: () => s3.send(new PutObjectCommand({ ...written, Body: 'proof' })),
    read: () => read(s3, own),
    list: () => s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })),
    remove: () => s3.send(new DeleteObjectCommand(written)),
  }
}

export function attemptsOutside({ session: { s3 }, bucket, prefix, object }: Scene): Attempts<Outside> {
  const there = { Bucket: bucket, Key: object }
  const beside = { Bucket: bucket, Key: `${besideOf(prefix)}${object}` }
  return {
    readOutside: () => read(s3, there),
    writeOutside: () => s3.send(new PutObjectCommand({ Bucket: bucket, Key: `${object}-written`, Body: 'proof' })),
    removeOutside: () => s3.send(new DeleteObjectCommand(there)),
    readBeside: () => read(s3, beside),
    writeBeside: () => s3.send(new PutObjectCommand({ ...beside, Body: 'proof' })),
    listOutside: () => s3.send(new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 })),
    listVersionsOutside: () => s3.send(new ListObjectVersionsCommand({ Bucket: bucket, MaxKeys: 1 })),
  }
}

/** But for those by paths: by-path.ts. */
export function attemptsNever(scene: Scene): Attempts<Exclude<Never, ByPath>> {
  return { ...onOtherBuckets(scene), ...onBucket(scene), ...onUsers(scene) }
}

type OnOther = 'readOther' | 'copyOther' | 'listOther' | 'writeOther' | 'removeOther' | 'dropOther' | 'listBuckets' | 'makeBucket'

function onOtherBuckets({ session: { s3 }, bucket, prefix, object, other, made }: Scene): Attempts<OnOther> {
  const there = { Bucket: other.bucket, Key: other.object }
  const copy = { Bucket: bucket, Key: `${prefix}${object}-copy`, CopySource: `${other.bucket}/${other.object}` }
  return {
    readOther: () => read(s3, there),
    copyOther: () => s3.send(new CopyObjectCommand(copy)),
    listOther: () => s3.send(new ListObjectsV2Command({ Bucket: other.bucket, MaxKeys: 1 })),
    writeOther: () => s3.send(new PutObjectCommand({ Bucket: other.bucket, Key: object, Body: 'proof' })),
    removeOther: () => s3.send(new DeleteObjectCommand(there)),
    dropOther: () => s3.send(new DeleteBucketCommand({ Bucket: other.bucket })),
    listBuckets: () => s3.send(new ListBucketsCommand({ MaxBuckets: 1 })),
    makeBucket: () => s3.send(new CreateBucketCommand({ Bucket: made })),
  }
}

type OnBucket = 'readPolicy' | 'writePolicy' | 'writeAcl' | 'writeTags' | 'writeLifecycle'

function onBucket({ session: { s3 }, bucket, object }: Scene): Attempts<OnBucket> {
  const twice = [1, 2].map(() => ({ Key: 'proof', Value: notAValue }))
  // Of the same id, and neither in force nor about an object that stays.
  const end = { Status: 'Disabled', Filter: { Prefix: object }, Expiration: { Days: 3650 } } as const
  const rules = { LifecycleConfiguration: { Rules: [1, 2].map(() => ({ ID: 'proof', ...end })) } }
  return {
    readPolicy: () => s3.send(new GetBucketPolicyCommand({ Bucket: bucket })),
    writePolicy: () => s3.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: notAValue })),
    // As it is.
    writeAcl: () => s3.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'private' })),
    writeTags: () => s3.send(new PutBucketTaggingCommand({ Bucket: bucket, Tagging: { TagSet: twice } })),
    writeLifecycle: () => s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, ...rules })),
  }
}

function onUsers({
  session: { iam },
  user,
  made,
}: Scene): Attempts<'listUsers' | 'listKeys' | 'makeKey' | 'makeUser' | 'writeUserPolicy'> {
  const policy = { UserName: user, PolicyName: 'proof', PolicyDocument: notAValue }
  return {
    listUsers: () => iam.send(new ListUsersCommand({ MaxItems: 1 })),
    listKeys: () => iam.send(new ListAccessKeysCommand({ UserName: user })),
    makeKey: () => iam.send(new CreateAccessKeyCommand({ UserName: user })),
    makeUser: () => iam.send(new CreateUserCommand({ UserName: made })),
    writeUserPolicy: () => iam.send(new PutUserPolicyCommand(policy)),
  }
}

/** The whole object: an answer that is not read keeps its connection. */
async function read(s3: S3Client, object: { readonly Bucket: string; readonly Key: string }): Promise<void> {
  const { Body } = await s3.send(new GetObjectCommand(object))
  await Body?.transformToString()
}

/** Who this is, or what it may do, or whether there is such a thing: answered before all else. */
const refusals: ReadonlySet<number> = new Set([401, 403, 405, 501])
const badRequest = 400
const serverError = 500

/** One after the other, so that each finds what the one before it left. Rejects when the store does not answer. */
export async function outcomesOf<N extends string>(attempts: Attempts<N>): Promise<Readonly<Partial<Record<N, Outcome>>>> {
  const outcomes: Partial<Record<N, Outcome>> = {}
  for (const name of Object.keys(attempts) as N[]) outcomes[name] = await outcomeOf(attempts[name])
  return outcomes
}

async function outcomeOf(attempt: () => Promise<unknown>): Promise<Outcome> {
  try {
    await attempt()
    return 'done'
  } catch (error) {
    const status = statusOf(error)
    if (status !== undefined && refusals.has(status)) return 'refused'
    if (status !== undefined && status >= badRequest && status < serverError) return 'passed'
    throw storeError(error)
  }
}
