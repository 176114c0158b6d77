import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketId, probeName, requireBucketName, requirePrefix, userName } from './names.ts'
import { type BucketAccess, policyOf } from './policy.ts'

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

test('whatever the bucket and the prefix are: no other bucket, nothing outside of the prefix, no right over the bucket itself', () => {
  fc.assert(
    fc.property(access, bucket, fc.option(prefix, { nil: undefined }), bucket, fc.string(), (may, own, below, other, key) => {
      const { Statement } = policyOf({ bucket: own, access: may, prefix: below })
      for (const { Effect, Action, Resource, Condition } of Statement) {
        expect(Effect).toBe('Allow')
        expect(
          Action.filter(action =>
            /[*?]|^(?!s3:)|Policy|Acl|Tagging|Bucket(?!Versions$|$)|CreateBucket|DeleteBucket/.test(action),
          ),
        ).toEqual([])
        if (other !== own) {
          expect(matches(Resource, `arn:aws:s3:::${other}`)).toBe(false)
          expect(matches(Resource, `arn:aws:s3:::${other}/${key}`)).toBe(false)
        }
        if (below === undefined) continue
        if (!key.startsWith(below)) expect(matches(Resource, `arn:aws:s3:::${own}/${key}`)).toBe(false)
        const listed = Condition?.StringLike['s3:prefix']
        // The bucket itself is only for lists, and those only below the prefix.
        if (!Resource.includes('/')) expect(listed).toEqual([`${below}*`])
        if (listed && !key.startsWith(below)) expect(listed.some(pattern => matches(pattern, key))).toBe(false)
      }
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
  const grant = { bucket: 'b'.repeat(63), access: 'ReadWrite', prefix: `${'p'.repeat(127)}/` } as const
  expect(JSON.stringify(policyOf(grant)).length).toBeLessThan(2_048)
})

test.each([
  '',
  '/',
  'images',
  '/images/',
  'images//',
  'im*ges/',
  'image?/',
  '${aws:username}/',
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

test.each(['', 'ab', 'Photos', 'a.b', 'a_b', '-ab', 'ab-', 'pho*os', 'pho/tos', '${aws:username}', 'b'.repeat(64)])(
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
