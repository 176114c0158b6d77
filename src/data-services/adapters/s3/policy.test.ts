import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketId, probeName, requireBucketName, requirePrefix, userName } from './names.ts'
import { type BucketAccess, type Grant, policyOf } from './policy.ts'

const access = fc.constantFrom<BucketAccess>('ReadWrite', 'ReadOnly', 'WriteOnly')
const letters = (text: string, min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...text), minLength: min, maxLength: max })
const lower = 'abcdefghijklmnopqrstuvwxyz0123456789'
const bucket = fc.tuple(letters(lower, 1, 1), letters(`${lower}-`, 1, 61), letters(lower, 1, 1)).map(parts => parts.join(''))
const part = fc.tuple(letters(`${lower}ABC_-`, 1, 1), letters(`${lower}ABC_.-`, 0, 20)).map(parts => parts.join(''))
const prefix = fc.array(part, { minLength: 1, maxLength: 4 }).map(parts => `${parts.join('/')}/`)

/** As AWS reads a pattern: `*` is any text, `?` one character. */
function matches(pattern: string, text: string): boolean {
  const escaped = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${escaped}$`, 's').test(text)
}

const grant = fc.record({ access, bucket, prefix: fc.option(prefix, { nil: undefined }) })
const overBuckets = /[*?]|^(?!s3:)|Policy|Acl|Tagging|Bucket(?!Versions$|$)|(Create|Delete)Bucket/
const resourcesOf = (given: Grant): readonly string[] => policyOf(given).Statement.map(({ Resource }) => Resource)

test('whatever is granted: named actions, none over a bucket, and no other bucket', () => {
  fc.assert(
    fc.property(grant, bucket, fc.string(), (given, other, key) => {
      fc.pre(other !== given.bucket)
      expect(policyOf(given).Statement.flatMap(({ Action }) => Action.filter(action => overBuckets.test(action)))).toEqual([])
      for (const arn of [`arn:aws:s3:::${other}`, `arn:aws:s3:::${other}/${key}`])
        expect(resourcesOf(given).filter(resource => matches(resource, arn))).toEqual([])
    }),
  )
})

test('with a prefix: no object outside of it, and no list but below it', () => {
  fc.assert(
    fc.property(grant, prefix, fc.string(), (given, below, key) => {
      fc.pre(!key.startsWith(below))
      const own = { ...given, prefix: below }
      const arn = `arn:aws:s3:::${own.bucket}/${key}`
      expect(resourcesOf(own).filter(resource => matches(resource, arn))).toEqual([])
      const lists = policyOf(own).Statement.filter(({ Resource }) => !Resource.includes('/'))
      expect(lists.map(({ Condition }) => Condition)).toEqual(lists.map(() => ({ StringLike: { 's3:prefix': [`${below}*`] } })))
      expect(matches(`${below}*`, key)).toBe(false)
    }),
  )
})

test.each<[BucketAccess, readonly string[]]>([
  ['ReadOnly', ['s3:GetObject', 's3:GetObjectVersion', 's3:ListBucket', 's3:ListBucketVersions']],
  ['WriteOnly', ['s3:AbortMultipartUpload', 's3:ListMultipartUploadParts', 's3:PutObject']],
])('%s is exactly that', (may, actions) => {
  const { Statement } = policyOf({ bucket: 'photos', access: may })
  expect(Statement.flatMap(({ Action }) => Action).sort()).toEqual(actions)
})

test('the longest policy fits into what IAM takes for a user', () => {
  const longest = { bucket: 'b'.repeat(63), access: 'ReadWrite', prefix: `${'p'.repeat(127)}/` } as const
  expect(JSON.stringify(policyOf(longest)).length).toBeLessThan(2_048)
})

test.each([
  '',
  '/',
  'images',
  '/images/',
  'images//',
  'im*ges/',
  'image?/',
  `$\{aws:username}/`,
  '../',
  'a/../b/',
  './',
  '.sgwtmp/',
  'a/\n/',
  `${'p'.repeat(128)}/`,
])('a prefix such as %j is refused', text => {
  expect(() => requirePrefix(text)).toThrow('not a prefix')
  expect(() => policyOf({ bucket: 'photos', access: 'ReadOnly', prefix: text })).toThrow('not a prefix')
})

test.each(['', 'ab', 'Photos', 'a.b', 'a_b', '-ab', 'ab-', 'pho*os', 'pho/tos', `$\{aws:username}`, 'b'.repeat(64)])(
  'a bucket named %j is refused',
  text => {
    expect(() => requireBucketName(text)).toThrow('not a name')
    expect(() => policyOf({ bucket: text, access: 'ReadOnly' })).toThrow('not a name')
  },
)

test('names say nothing of a tenant, fit the rules, and are the same each time', () => {
  const owner = { tenantUid: 'u', namespace: 'acme', name: 'shop' }
  expect(requireBucketName(bucketId(owner))).toMatch(/^b[a-z2-7]{26}$/)
  expect(bucketId(owner)).toBe(bucketId({ ...owner }))
  expect(bucketId({ ...owner, namespace: 'acmes', name: 'hop' })).not.toBe(bucketId(owner))
  expect(userName('uid', 'a')).toMatch(/^u-[a-z2-7]{26}-a$/)
  expect(userName('uid', 'b')).not.toBe(userName('uid', 'a'))
  expect(requireBucketName(probeName('class'))).not.toBe(probeName('another'))
})
