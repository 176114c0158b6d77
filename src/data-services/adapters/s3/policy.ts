// What a key may do, as a policy of AWS: the objects of one bucket, or those below one prefix of it. Pure. Nothing that a tenant
// wrote becomes part of it but the name of its bucket and a prefix, neither of which can hold a wildcard or a variable.
import { requireBucketName, requirePrefix } from './names.ts'

export type BucketAccess = 'ReadWrite' | 'ReadOnly' | 'WriteOnly'
export type Grant = {
  readonly bucket: string
  readonly access: BucketAccess
  /** Ends with a slash. Without it the whole bucket. */
  readonly prefix?: string | undefined
}

type Statement = {
  readonly Effect: 'Allow'
  readonly Action: readonly string[]
  readonly Resource: string
  readonly Condition?: { readonly StringLike: { readonly 's3:prefix': readonly [string] } }
}
/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html */
export type PolicyDocument = { readonly Version: '2012-10-17'; readonly Statement: readonly Statement[] }

const reading = ['s3:GetObject', 's3:GetObjectVersion']
const listing = ['s3:ListBucket', 's3:ListBucketVersions']
const writing = ['s3:PutObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts']
const removing = ['s3:DeleteObject', 's3:DeleteObjectVersion']

const objectActions: Readonly<Record<BucketAccess, readonly string[]>> = {
  ReadWrite: [...reading, ...writing, ...removing],
  ReadOnly: reading,
  WriteOnly: writing,
}
const mayList: Readonly<Record<BucketAccess, boolean>> = { ReadWrite: true, ReadOnly: true, WriteOnly: false }

/** @throws for a bucket or a prefix that no binding may have */
export function policyOf({ bucket, access, prefix }: Grant): PolicyDocument {
  const arn = `arn:aws:s3:::${requireBucketName(bucket)}`
  const below = prefix === undefined ? '' : requirePrefix(prefix)
  const objects: Statement = { Effect: 'Allow', Action: objectActions[access], Resource: `${arn}/${below}*` }
  const list: Statement = {
    Effect: 'Allow',
    Action: listing,
    Resource: arn,
    ...(below !== '' && { Condition: { StringLike: { 's3:prefix': [`${below}*`] } } }),
  }
  return { Version: '2012-10-17', Statement: mayList[access] ? [objects, list] : [objects] }
}
