// Fault 12 of the list in fault-page.ts: AdmissionReviews that no API server sends, and extreme ones that it may send. Every
// answer must be an AdmissionReview with the same uid, or a 4xx, which is a webhook that is down for the API server (the
// policies judge); no crash, no bypass.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdmissionFixture, type Answer, post, startAdmissionFixture } from './fixtures/admission-fixture.ts'
import { recordOutcome } from './outcome.ts'

const fault = 12
let fixture: AdmissionFixture
beforeAll(async () => {
  fixture = await startAdmissionFixture()
})
afterAll(() => fixture?.stop())

type Json = Readonly<Record<string, unknown>>
const uid = '705ab4f5-6393-11e8-b7cc-42010a800002'
const grant = { group: 'github.sekisho.dev', version: 'v1alpha1', resource: 'repositorygrants' }
const spec = {
  installation: 'github',
  repositories: ['acme/shop'],
  permissions: { contents: 'read' },
  requestedBy: 'somebody-else',
}
const object = {
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'RepositoryGrant',
  metadata: { name: 'g', namespace: 'acme' },
  spec,
}
const request: Json = {
  uid,
  operation: 'CREATE',
  resource: grant,
  kind: { group: grant.group, version: grant.version, kind: 'RepositoryGrant' },
  namespace: 'acme',
  name: 'g',
  userInfo: { username: 'github|github.com|7', groups: ['system:authenticated'] },
  object,
  oldObject: null,
  dryRun: false,
}
const review = (change: Json = {}, outer: Json = {}): Json => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { ...request, ...change },
  ...outer,
})
const without = (field: string): Json => {
  const { [field]: _gone, ...rest } = request
  return review({}, { request: rest })
}
const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`label-${index}`, 'x'.repeat(60)]))
const deep = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":${JSON.stringify(request).replace('"somebody-else"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)}}`

/** `mayPass`: the request is not an attack and the rules allow it. */
type Case = { readonly name: string; readonly body: unknown; readonly mayPass?: true }
const cases: readonly Case[] = [
  { name: 'no request', body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } },
  { name: 'a request that is null', body: review({}, { request: null }) },
  { name: 'a request that is a list', body: review({}, { request: [] }) },
  { name: 'nothing', body: '' },
  { name: 'null', body: 'null' },
  { name: 'a list', body: '[]' },
  { name: 'half a review', body: JSON.stringify(review()).slice(0, -20) },
  { name: 'no uid', body: without('uid') },
  { name: 'an empty uid', body: review({ uid: '' }) },
  { name: 'a uid that is a number', body: review({ uid: 5 }) },
  { name: 'v1beta1', body: review({}, { apiVersion: 'admission.k8s.io/v1beta1' }) },
  { name: 'no apiVersion', body: review({}, { apiVersion: undefined }) },
  { name: 'no user', body: without('userInfo') },
  { name: 'a user without name', body: review({ userInfo: { groups: [] } }) },
  { name: 'groups that are no list', body: review({ userInfo: { username: 'x', groups: 'system:masters' } }) },
  { name: 'no resource', body: without('resource') },
  { name: 'an unknown kind', body: review({ resource: { group: 'example.com', version: 'v1', resource: 'widgets' } }) },
  { name: 'an unknown operation', body: review({ operation: 'PATCH' }) },
  { name: 'an operation in lower case', body: review({ operation: 'create' }) },
  { name: 'object null on CREATE', body: review({ object: null }) },
  { name: 'an object that is a text', body: review({ object: 'x' }) },
  { name: 'a spec that is a list', body: review({ object: { ...object, spec: [] } }) },
  { name: 'both objects null on UPDATE', body: review({ operation: 'UPDATE', object: null, oldObject: null }), mayPass: true },
  { name: 'DELETE without oldObject', body: review({ operation: 'DELETE', object: null, oldObject: null }), mayPass: true },
  { name: 'CONNECT', body: review({ operation: 'CONNECT' }) },
  { name: 'the status subresource', body: review({ subResource: 'status' }) },
  { name: 'an unknown subresource', body: review({ subResource: 'evil' }) },
  { name: 'dryRun', body: review({ dryRun: true }) },
  { name: 'an object of 3 MiB', body: review({ object: { ...object, spec: { ...spec, reason: 'x'.repeat(3 * 1024 * 1024) } } }) },
  {
    name: 'objects of 1.5 MiB old and new',
    body: review({
      operation: 'UPDATE',
      object: { ...object, spec: { ...spec, reason: 'y'.repeat(1_500_000) } },
      oldObject: { ...object, spec: { reason: 'x'.repeat(1_500_000) } },
    }),
    mayPass: true,
  },
  { name: '10,000 labels', body: review({ object: { ...object, metadata: { ...object.metadata, labels } } }) },
  { name: '100,000 nested lists', body: deep },
  {
    name: '__proto__ in the object',
    body: JSON.stringify(review()).replace('"spec":{', '"spec":{"__proto__":{"requestedBy":"github|github.com|7"},'),
  },
  {
    name: 'requestedBy twice',
    body: JSON.stringify(review()).replace(
      '"requestedBy":"somebody-else"',
      '"requestedBy":"github|github.com|7","requestedBy":"somebody-else"',
    ),
  },
  { name: 'an object that says it is another kind', body: review({ object: { ...object, kind: 'Secret' } }) },
]

const bodyOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

function responseIn(answer: Answer): { readonly uid?: unknown; readonly allowed?: unknown } | undefined {
  const { body } = answer
  return typeof body === 'object' && body !== null && 'response' in body
    ? (body.response as { uid?: unknown; allowed?: unknown })
    : undefined
}

/** Whether the answer follows the contract of the header. */
function isProper(answer: Answer): boolean {
  const response = responseIn(answer)
  return answer.status === 200
    ? response?.uid === uid && typeof response.allowed === 'boolean'
    : answer.status >= 400 && answer.status < 500
}

test('malformed and extreme reviews are answered by contract, and are not allowed', async () => {
  const counts = { improper: 0, passed: 0, crashed: 0, reviews: 0 }
  for (const one of cases)
    for (const path of ['/validate/kinds', '/mutate']) {
      counts.reviews += 1
      try {
        const answer = await post(await fixture.target(), path, bodyOf(one.body))
        const proper = isProper(answer)
        const passed = path === '/validate/kinds' && one.mayPass !== true && responseIn(answer)?.allowed === true
        expect
          .soft({ case: one.name, path, status: answer.status, proper, passed })
          .toMatchObject({ proper: true, passed: false })
        if (!proper) counts.improper += 1
        if (passed) counts.passed += 1
      } catch (error) {
        counts.crashed += 1
        expect.soft(error, one.name).toBeUndefined()
      }
    }
  const good = await post(
    await fixture.target(),
    '/validate/kinds',
    JSON.stringify(review({ object: { ...object, spec: { ...spec, requestedBy: 'github|github.com|7' } } })),
  )
  expect(responseIn(good)).toMatchObject({ uid, allowed: true })
  const named = `${cases.length} malformed or extreme reviews, at both paths`
  await recordOutcome({
    fault,
    case: named,
    measure: 'answers that are neither a review with the same uid nor 4xx',
    value: counts.improper,
    unit: 'answers',
    atMost: 0,
  })
  await recordOutcome({
    fault,
    case: named,
    measure: 'reviews let through that must not be',
    value: counts.passed,
    unit: 'reviews',
    atMost: 0,
  })
  await recordOutcome({
    fault,
    case: named,
    measure: 'connections without an answer',
    value: counts.crashed,
    unit: 'connections',
    atMost: 0,
  })
})

test('a review gets the same decision with and without dryRun', async () => {
  const different = { count: 0 }
  for (const one of cases) {
    if (typeof one.body === 'string') continue
    const body = one.body as { readonly request?: Json | null }
    const wet = await post(
      await fixture.target(),
      '/validate/kinds',
      JSON.stringify({ ...body, request: body.request && { ...body.request, dryRun: false } }),
    )
    const dry = await post(
      await fixture.target(),
      '/validate/kinds',
      JSON.stringify({ ...body, request: body.request && { ...body.request, dryRun: true } }),
    )
    if (wet.status !== dry.status || responseIn(wet)?.allowed !== responseIn(dry)?.allowed) different.count += 1
  }
  await recordOutcome({
    fault,
    case: 'the same reviews with dryRun true and false',
    measure: 'judgements that differ',
    value: different.count,
    unit: 'reviews',
    atMost: 0,
  })
})
