// Rules by which a store deletes by age, in the form of S3. Pure.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_LifecycleRule.html
import type { LifecycleRule as StoreRule } from '@aws-sdk/client-s3'
import { sameJson } from '../../../lib/json/same-json.ts'
import { requireBeginning } from './names.ts'

export type LifecycleRule = {
  /** Undefined: every object. */
  readonly prefix?: string | undefined
  readonly expireAfterDays?: number | undefined
  readonly expireFormerVersionsAfterDays?: number | undefined
  readonly abortUploadsAfterDays?: number | undefined
}

/**
 * The id of a rule is its place in the list: the same rules are the same in the store.
 * @throws for a prefix that no rule may have
 */
export function storeRulesOf(rules: readonly LifecycleRule[]): StoreRule[] {
  return rules.map(({ prefix, expireAfterDays, expireFormerVersionsAfterDays, abortUploadsAfterDays }, index) => ({
    ID: `sekisho-${index + 1}`,
    Status: 'Enabled',
    Filter: { Prefix: prefix === undefined ? '' : requireBeginning(prefix) },
    ...(expireAfterDays !== undefined && { Expiration: { Days: expireAfterDays } }),
    ...(expireFormerVersionsAfterDays !== undefined && {
      NoncurrentVersionExpiration: { NoncurrentDays: expireFormerVersionsAfterDays },
    }),
    ...(abortUploadsAfterDays !== undefined && {
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: abortUploadsAfterDays },
    }),
  }))
}

/**
 * What the store shall have: the rules of the Bucket and no others; of a Bucket that says nothing of them those that
 * administrators of the store wrote, which have other ids.
 */
export function wantedRules(present: readonly StoreRule[], rules: readonly LifecycleRule[] | undefined): readonly StoreRule[] {
  return rules === undefined ? present.filter(({ ID = '' }) => !/^sekisho-\d+$/.test(ID)) : storeRulesOf(rules)
}

/** Whether both say the same: a store answers in its own order, and has three ways to say that a rule is about every object. */
export function sameRules(present: readonly StoreRule[], wanted: readonly StoreRule[]): boolean {
  return sameJson(present.map(plain).toSorted(byId), wanted.map(plain).toSorted(byId))
}

type PlainRule = Omit<StoreRule, 'Filter' | 'Prefix'> & { readonly prefix: string; readonly filter: object }

/** What else a filter has, such as a tag, stays: it is another rule then. */
function plain({ Filter, Prefix, ...rule }: StoreRule): PlainRule {
  const { Prefix: beginning = Prefix, ...filter } = Filter ?? {}
  return { ...rule, prefix: beginning ?? '', filter }
}

function byId({ ID: one = '' }: PlainRule, { ID: other = '' }: PlainRule): number {
  return one < other ? -1 : one > other ? 1 : 0
}
