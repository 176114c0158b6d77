import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accessKinds } from '../../api/audit/access-kinds.ts'
import { specDigest } from '../../api/audit/spec-digest.ts'
import { loginExtra } from '../../api/names.ts'
import { isAppError } from '../../lib/errors.ts'
import { allowed, changingRecord, readReview } from './access-review.ts'

const dave = 'github|github.com|1002'
const metadata = { name: 'read-shop', namespace: 'acme', uid: 'g-1', generation: 1 }

function review(request: object, user: object = {}): object {
  const userInfo = { username: dave, extra: { [loginExtra]: ['dave'] }, ...user }
  const resource = { group: 'github.sekisho.dev', version: 'v1alpha1', resource: 'repositorygrants' }
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'r-1', resource, userInfo, ...request } }
}
const tenants = { group: 'tenancy.sekisho.dev', version: 'v1alpha1', resource: 'tenants' }
const tenantWith = (spec: object, generation = 2) => ({ metadata: { name: 'acme', uid: 't-1', generation }, spec })
const deletion = { operation: 'DELETE', object: null, oldObject: { metadata, spec: { requestedBy: 'github|github.com|1' } } }

function recordOf(body: object) {
  const { change } = readReview(body)
  return change && changingRecord(change)
}

describe('a review', () => {
  test('of a deletion becomes a record of the user that the API server says, not of one that the object says', () => {
    expect(recordOf(review(deletion))).toEqual({
      action: 'access.changing',
      actor: dave,
      namespace: 'acme',
      object: 'RepositoryGrant/acme/read-shop',
      outcome: 'allowed',
      reason: 'DELETE of RepositoryGrant read-shop was asked for',
      details: { operation: 'DELETE', request: 'r-1', uid: 'g-1', login: 'dave', generation: 1 },
    })
  })

  test('of a changed Tenant has the generation and the digest of what it is to be, in the namespace of its people', () => {
    const [oldObject, object] = [tenantWith({ namespace: 'acme', roles: [1] }, 1), tenantWith({ namespace: 'acme', roles: [] })]
    expect(recordOf(review({ operation: 'UPDATE', resource: tenants, object, oldObject }))).toMatchObject({
      namespace: 'acme',
      object: 'Tenant/acme',
      details: { generation: 2, specDigest: specDigest({ roles: [], namespace: 'acme' }) },
    })
  })

  test('of who stands in for an Installation is recorded with the digest of what it is to be', () => {
    const resource = { group: 'github.sekisho.dev', resource: 'installations' }
    const [oldObject, object] = [
      { metadata, spec: { app: 'main' } },
      { metadata, spec: { app: 'main', standIns: [] } },
    ]
    expect(recordOf(review({ operation: 'UPDATE', resource, object, oldObject }))).toMatchObject({
      object: 'Installation/acme/read-shop',
      details: { operation: 'UPDATE', specDigest: specDigest(object.spec) },
    })
  })

  test.each<readonly [string, object]>([
    ['a dry run', { ...deletion, dryRun: true }],
    ['an object that is ending already', { ...deletion, oldObject: { metadata: { ...metadata, deletionTimestamp: 'x' } } }],
    [
      'a change of metadata only',
      { operation: 'UPDATE', resource: tenants, object: tenantWith({}), oldObject: tenantWith({}, 1) },
    ],
    ['a status', { operation: 'UPDATE', resource: tenants, subResource: 'status', object: tenantWith({ a: 1 }), oldObject: {} }],
    ['a kind that decides nothing', { ...deletion, resource: { group: 'apps', resource: 'deployments' } }],
    ['a kind of that name in another group', { ...deletion, resource: { group: 'example.com', resource: 'repositorygrants' } }],
    ['an operation that has a record of its own', { operation: 'CREATE', object: { metadata, spec: {} } }],
  ])('of %s is not recorded', (_what, request) => {
    expect(readReview(review(request))).toEqual({ request: 'r-1', change: undefined })
  })

  test.each([undefined, null, 'x', {}, { apiVersion: 'v1' }, review({}, { username: '' }), review({ uid: '' })])(
    'that is none is refused: %j',
    body => expect(() => readReview(body)).toThrow('must be an AdmissionReview'),
  )

  test('with any content is recorded or not, and nothing else happens', () => {
    const operation = fc.constantFrom('CREATE', 'UPDATE', 'DELETE', 'CONNECT', 7)
    const resource = fc.constantFrom(
      ...accessKinds.map(({ type }) => ({ group: type.apiVersion.split('/')[0], resource: type.plural })),
    )
    const request = fc.record({ operation, resource, object: fc.jsonValue(), oldObject: fc.jsonValue(), dryRun: fc.boolean() })
    fc.assert(
      fc.property(request, one => {
        try {
          const record = recordOf(review(one))
          if (record !== undefined) expect([record.actor, record.action]).toEqual([dave, 'access.changing'])
        } catch (error) {
          expect(isAppError(error, 'invalid_request')).toBe(true)
        }
      }),
    )
  })

  test('is always allowed', () => {
    expect(JSON.parse(allowed('r-1'))).toMatchObject({ kind: 'AdmissionReview', response: { uid: 'r-1', allowed: true } })
  })
})
