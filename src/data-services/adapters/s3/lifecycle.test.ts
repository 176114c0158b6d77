import type { LifecycleRule as StoreRule } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { type LifecycleRule, sameRules, storeRulesOf, wantedRules } from './lifecycle.ts'
import { requireBeginning, requirePrefix } from './names.ts'

const rules: readonly LifecycleRule[] = [
  { prefix: 'tmp/', expireAfterDays: 7 },
  { expireFormerVersionsAfterDays: 30, abortUploadsAfterDays: 1 },
]

test('each rule is one of S3, with an id that stays, and has what it says and nothing else', () => {
  expect(storeRulesOf(rules)).toEqual([
    { ID: 'sekisho-1', Status: 'Enabled', Filter: { Prefix: 'tmp/' }, Expiration: { Days: 7 } },
    {
      ID: 'sekisho-2',
      Status: 'Enabled',
      Filter: { Prefix: '' },
      NoncurrentVersionExpiration: { NoncurrentDays: 30 },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
    },
  ])
  expect(storeRulesOf([])).toEqual([])
})

test('a Bucket without rules leaves those of administrators, and one with rules has no others', () => {
  const theirs: StoreRule = { ID: 'all', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 1 } }
  const { ID: _id, ...nameless } = theirs
  const present = [...storeRulesOf(rules), theirs, nameless as StoreRule]
  expect(wantedRules(present, undefined)).toEqual([theirs, nameless])
  expect(wantedRules(present, [])).toEqual([])
  expect(wantedRules(present, rules)).toEqual(storeRulesOf(rules))
})

const [first, second] = storeRulesOf(rules) as [StoreRule, StoreRule]
const { Filter: _, ...everywhere } = second

test.each<[string, readonly StoreRule[]]>([
  ['as they were written', [first, second]],
  ['in another order', [second, first]],
  ['without a filter', [first, everywhere as StoreRule]],
  ['with a filter without a prefix', [first, { ...second, Filter: {} }]],
  ['with the prefix at its former place', [{ ...first, Filter: undefined, Prefix: 'tmp/' }, second]],
])('a store that answers %s has the same rules', (_, present) => {
  expect(sameRules(present, storeRulesOf(rules))).toBe(true)
})

test.each<[string, readonly StoreRule[]]>([
  ['none', []],
  ['one less', [second]],
  ['somebody else’s beside them', [first, second, { ...first, ID: 'somebodys' }]],
  ['an expiry that somebody moved', [{ ...first, Expiration: { Days: 8 } }, second]],
  ['one that somebody switched off', [{ ...first, Status: 'Disabled' }, second]],
  ['one for every object', [{ ...first, Filter: { Prefix: '' } }, second]],
  ['one for objects with a tag', [{ ...first, Filter: { Prefix: 'tmp/', Tag: { Key: 'a', Value: 'b' } } }, second]],
  ['one for what two things hold', [{ ...first, Filter: { And: { Prefix: 'tmp/', ObjectSizeGreaterThan: 1 } } }, second]],
  ['one that moves objects elsewhere', [{ ...first, Transitions: [{ Days: 1, StorageClass: 'GLACIER' }] }, second]],
  ['former versions of which some are kept', [first, { ...second, NoncurrentVersionExpiration: { NewerNoncurrentVersions: 3 } }]],
])('a store that has %s has others', (_, present) => {
  expect(sameRules(present, storeRulesOf(rules))).toBe(false)
})

test.each(['tmp', 'tmp/', 'a/b.c', 'images/2026-', `${'p'.repeat(127)}/`])(
  'rules may be about names that begin with %j',
  prefix => {
    expect(requireBeginning(prefix)).toBe(prefix)
  },
)

test.each(['', '/', '/a', 'a//b', '..', '../other', 'a/../b', 'a/.b', '*', 'a\nb', 'a\u0000', '<x>', 'é', 'p'.repeat(129)])(
  'no rule is about names that begin with %j',
  prefix => {
    expect(() => storeRulesOf([{ prefix, expireAfterDays: 1 }])).toThrow('not a prefix')
    expect(() => requirePrefix(prefix)).toThrow('not a prefix')
  },
)
