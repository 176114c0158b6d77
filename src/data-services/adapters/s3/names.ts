// The names that buckets and users have in a store. Whoever has a key can learn names of others, so they say nothing of a
// tenant: each is a hash. Pure. A bucket with a name of its own is told from another's by the tag of its owner.
import { hashedName } from '../hashed-name.ts'
import type { SlotName } from '../postgresql/identifiers.ts'

/** Whose bucket it is. Found again by the same name in the same namespace of the same Tenant. */
export type BucketOwner = { readonly tenantUid: string; readonly namespace: string; readonly name: string }

/** S3's rules for names, without dots, with which certificates for subdomains do not work. */
const bucket = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/
/** Nothing that a policy reads as a wildcard or a variable, and no part that a file system reads as a way up. */
const prefix = /^([A-Za-z0-9_-][A-Za-z0-9._-]*\/)+$/
/** The same, but for the slash at the end. */
const beginning = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\/?$/
const maxPrefix = 128

/** What is written into the tag of a bucket; also the name of one that has none of its own. */
export function bucketId({ tenantUid, namespace, name }: BucketOwner): string {
  return `b${hashedName(['bucket', tenantUid, namespace, name])}`
}

/** The user of a slot of the ServiceBinding with this uid; it has one key. */
export function userName(bindingUid: string, slot: SlotName): string {
  return `u-${hashedName(['binding', bindingUid])}-${slot}`
}

/** Names of the proof of a user's key begin so: always the same, so that the next proof ends what one that broke off left. */
export function proofName(user: string): string {
  return `proof-${hashedName(['proof', user])}`
}

/** The bucket of the platform in the store with this id: nobody but the administrator may do anything with it. */
export function probeName(storeId: string): string {
  return `p${hashedName(['probe', storeId])}`
}

/** @throws for what is no name of a bucket */
export function requireBucketName(name: string): string {
  if (!bucket.test(name)) throw new Error('not a name that a bucket may have')
  return name
}

/** @throws for a prefix that could reach beyond itself, or does not end with a slash */
export function requirePrefix(text: string): string {
  if (text.length > maxPrefix || !prefix.test(text)) throw new Error('not a prefix that a binding may have')
  return text
}

/** @throws for what no names of objects that a tenant writes begin with */
export function requireBeginning(text: string): string {
  if (text.length > maxPrefix || !beginning.test(text)) throw new Error('not a prefix that a rule may have')
  return text
}
