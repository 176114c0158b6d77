// Buckets of tenants in a shared store. All belong to the platform's account; whose each is stands in its tag, which is made
// with it: the same name of another owner, or of nobody, is never taken over. Tenants can write no tags.
import {
  CreateBucketCommand,
  type CreateBucketCommandInput,
  DeleteBucketCommand,
  DeleteBucketCorsCommand,
  DeleteBucketLifecycleCommand,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { sameJson } from '../../../lib/json/same-json.ts'
import { codeOf, isNotImplemented, StoreError } from '../../../object-store/store-error.ts'
import { emptyStep } from './contents.ts'
import { type LifecycleRule, sameRules, wantedRules } from './lifecycle.ts'
import { requireBucketName } from './names.ts'
import type { Store } from './store.ts'

export type CorsMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
export type CorsRule = {
  readonly origins: readonly string[]
  readonly methods: readonly CorsMethod[]
  readonly headers?: readonly string[] | undefined
  readonly exposedHeaders?: readonly string[] | undefined
  readonly maxAgeSeconds?: number | undefined
}
export type WantedBucket = {
  readonly name: string
  /** As `bucketId` makes it. */
  readonly owner: string
  /** Undefined: as it is. */
  readonly versioning?: boolean | undefined
  /** Undefined: none. */
  readonly cors?: readonly CorsRule[] | undefined
  /** Undefined: none but those of the store’s administrators. */
  readonly lifecycle?: readonly LifecycleRule[] | undefined
}
/** What of a bucket is brought in line. */
export type BucketSetting = 'versioning' | 'CORS rules' | 'lifecycle rules'
/** `missing`: it is not there, and must not be made anew. `foreign`: a bucket of this name is another's. */
export type EnsuredBucket = 'made' | 'found' | 'missing' | 'foreign'

const ownerTag = 'sekisho-owner'
/** The region that has no name in a request to make a bucket. */
const namelessRegion = 'us-east-1'

/**
 * Makes the bucket, or brings the one that is there in line; again it changes nothing. `mayCreate` is false for a bucket that
 * was complete once: what was lost is said and never replaced by something empty. `changed` is told what was not as wanted.
 */
export function ensureBucket(
  store: Store,
  wanted: WantedBucket,
  mayCreate: boolean,
  changed: (setting: BucketSetting) => unknown = () => undefined,
): Promise<EnsuredBucket> {
  return inTurn(store, wanted.name, async s3 => {
    const standing = await claim(s3, wanted, mayCreate ? store.address.region : undefined)
    if (standing === 'missing' || standing === 'foreign') return standing
    if (await setVersioning(s3, wanted)) changed('versioning')
    if (await setCors(s3, wanted)) changed('CORS rules')
    if (await setLifecycle(s3, wanted)) changed('lifecycle rules')
    return standing
  })
}

function inTurn<T>(store: Store, name: string, work: (s3: S3Client) => Promise<T>): Promise<T> {
  return store.turns.run(`bucket ${requireBucketName(name)}`, () => store.asAdministrator(({ s3 }) => work(s3)))
}

/** Whose it is now. Without a region it is not made. */
async function claim(s3: S3Client, wanted: WantedBucket, region: string | undefined): Promise<EnsuredBucket> {
  const found = await ownerOf(s3, wanted.name, region === undefined)
  if (found !== undefined) return found === wanted.owner ? 'found' : 'foreign'
  if (region === undefined) return 'missing'
  if (await create(s3, wanted, region)) return 'made'
  // Somebody else made it since it was looked for.
  return (await ownerOf(s3, wanted.name, false)) === wanted.owner ? 'found' : 'foreign'
}

/**
 * Undefined when there is no such bucket; null for one without a tag of ours, which is never taken over. Rejects for one that was
 * ours when its tags cannot be read: what a right of the platform lacks says nothing of whose it is.
 */
export async function ownerOf(s3: S3Client, name: string, wasOurs: boolean): Promise<string | null | undefined> {
  try {
    const { TagSet = [] } = await s3.send(new GetBucketTaggingCommand({ Bucket: name }))
    return TagSet.find(({ Key }) => Key === ownerTag)?.Value || null
  } catch (error) {
    const code = codeOf(error)
    if (code === 'NoSuchBucket') return undefined
    // Of another account of AWS: names are one for all of them.
    if (code === 'NoSuchTagSet' || (code === 'AccessDenied' && !wasOurs)) return null
    throw error
  }
}

/** Whether this call made it. The tag comes with it: there is no moment in which it is nobody's. */
async function create(s3: S3Client, { name, owner }: WantedBucket, region: string): Promise<boolean> {
  const place = region === namelessRegion ? {} : { LocationConstraint: region as Region }
  const configuration = { ...place, Tags: [{ Key: ownerTag, Value: owner }] }
  try {
    await s3.send(new CreateBucketCommand({ Bucket: name, CreateBucketConfiguration: configuration }))
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === 'BucketAlreadyOwnedByYou' || code === 'BucketAlreadyExists') return false
    throw error
  }
}
type Region = NonNullable<NonNullable<CreateBucketCommandInput['CreateBucketConfiguration']>['LocationConstraint']>

/** Whether it was not as wanted. */
async function setVersioning(s3: S3Client, { name, versioning }: WantedBucket): Promise<boolean> {
  if (versioning === undefined) return false
  const present = await orUndefined(s3.send(new GetBucketVersioningCommand({ Bucket: name })), isNotImplemented)
  if ((present?.Status === 'Enabled') === versioning) return false
  const Status = versioning ? 'Enabled' : 'Suspended'
  await s3.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration: { Status } }))
  return true
}

/** Whether they were not as wanted. */
async function setCors(s3: S3Client, { name, cors = [] }: WantedBucket): Promise<boolean> {
  const isNone = (error: unknown): boolean => codeOf(error) === 'NoSuchCORSConfiguration' || isNotImplemented(error)
  const present = await orUndefined(s3.send(new GetBucketCorsCommand({ Bucket: name })), isNone)
  const wanted = cors.map(rule => ({
    AllowedOrigins: [...rule.origins],
    AllowedMethods: [...rule.methods],
    ...(rule.headers?.length && { AllowedHeaders: [...rule.headers] }),
    ...(rule.exposedHeaders?.length && { ExposeHeaders: [...rule.exposedHeaders] }),
    ...(rule.maxAgeSeconds !== undefined && { MaxAgeSeconds: rule.maxAgeSeconds }),
  }))
  if (sameJson(present?.CORSRules ?? [], wanted)) return false
  if (wanted.length === 0) await s3.send(new DeleteBucketCorsCommand({ Bucket: name }))
  else await s3.send(new PutBucketCorsCommand({ Bucket: name, CORSConfiguration: { CORSRules: wanted } }))
  return true
}

/** Whether they were not as wanted. */
async function setLifecycle(s3: S3Client, { name, lifecycle }: WantedBucket): Promise<boolean> {
  const isNone = (error: unknown): boolean => codeOf(error) === 'NoSuchLifecycleConfiguration' || isNotImplemented(error)
  const present = await orUndefined(s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: name })), isNone)
  const rules = present?.Rules ?? []
  const wanted = wantedRules(rules, lifecycle)
  if (sameRules(rules, wanted)) return false
  const configuration = { Bucket: name, LifecycleConfiguration: { Rules: [...wanted] } }
  if (wanted.length === 0) await s3.send(new DeleteBucketLifecycleCommand({ Bucket: name }))
  else await s3.send(new PutBucketLifecycleConfigurationCommand(configuration))
  return true
}

async function orUndefined<T>(answer: Promise<T>, isNone: (error: unknown) => boolean): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (isNone(error)) return undefined
    throw error
  })
}

export type RemovedBucket = 'gone' | 'full' | 'more'

export type UnwantedBucket = {
  readonly name: string
  readonly owner: string
  readonly empty: boolean
  /** Whether this owner had it: one that nobody's tag is on, or whose tags cannot be read, may then still be the owner's. */
  readonly wasComplete: boolean
}

/**
 * Ends the bucket. `full`: it has objects, and is not to be emptied. `more`: a part of it was emptied; call again. Another's
 * bucket is left alone, and `gone` for this owner. Rejects with a StoreError when it cannot be told whose it is.
 */
export function removeBucket(store: Store, { name, owner, empty, wasComplete }: UnwantedBucket): Promise<RemovedBucket> {
  return inTurn(store, name, async s3 => {
    const found = await ownerOf(s3, name, wasComplete)
    if (found === null && wasComplete) throw unknownOwner(name)
    if (found !== owner) return 'gone'
    if (empty && !(await emptyStep(s3, name))) return 'more'
    const isGone = await drop(s3, name)
    // With `empty`: somebody wrote since.
    return isGone ? 'gone' : empty ? 'more' : 'full'
  })
}

function unknownOwner(name: string): StoreError {
  const message = `the store does not say whose the bucket ${name} is: its tag ${ownerTag} is missing`
  return new StoreError('refused', message, { cause: undefined })
}

/** False when it has objects. */
async function drop(s3: S3Client, name: string): Promise<boolean> {
  try {
    await s3.send(new DeleteBucketCommand({ Bucket: name }))
  } catch (error) {
    if (codeOf(error) === 'BucketNotEmpty') return false
    if (codeOf(error) !== 'NoSuchBucket') throw error
  }
  return true
}
