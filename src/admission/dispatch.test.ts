// The dispatcher and every rule against any input: always an answer, never an exception, and closed when something is wrong.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { silentLog } from '../lib/log.ts'
import { type DispatchDeps, fill, judge } from './dispatch.ts'
import { platformIdentities } from './identities.ts'
import { type AdmissionRequest, admissionRequest } from './review.ts'
import type { Rule } from './rule.ts'
import { rules } from './rules/index.ts'

const identities = platformIdentities('separate')
const deps = (overrides: Partial<DispatchDeps> = {}): DispatchDeps => ({
  rules,
  identities,
  log: silentLog,
  elapsedMilliseconds: () => 0,
  ...overrides,
})

const request = (overrides: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  uid: 'u',
  operation: 'CREATE',
  group: 'github.sekisho.dev',
  resource: 'installations',
  subResource: undefined,
  namespace: 'acme',
  username: 'system:serviceaccount:sekisho-system:sekisho-broker',
  groups: [],
  object: {},
  oldObject: undefined,
  ...overrides,
})

describe('the dispatcher', () => {
  test('lets through what no rule refuses', () => {
    expect(judge(deps(), request())).toEqual({ uid: 'u', allowed: true })
  })

  test('refuses with 403 and the rule’s message', () => {
    expect(judge(deps(), request({ username: 'dave' }))).toMatchObject({
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: expect.stringContaining('onboards') },
    })
  })

  test('refuses when a rule fails, and keeps the failure to itself', () => {
    const [first] = rules
    if (!first) return expect.fail('there are no rules')
    const failing: Rule = {
      ...first,
      check: () => {
        throw new Error('detail')
      },
    }
    const response = judge(deps({ rules: [failing] }), request())
    expect(response).toMatchObject({ allowed: false, status: { code: 500 } })
    expect(JSON.stringify(response)).not.toContain('detail')
  })

  test('refuses what no rule knows, and what came too late', () => {
    expect(judge(deps(), request({ resource: 'unknown' }))).toMatchObject({ allowed: false, status: { code: 500 } })
    expect(judge(deps(), request({ subResource: 'status', resource: 'secrets', group: '' }))).toMatchObject({ allowed: false })
    expect(judge(deps({ elapsedMilliseconds: () => 4000 }), request())).toMatchObject({ allowed: false, status: { code: 504 } })
  })

  test('keeps broker and controllers apart when they are separate processes', () => {
    const controllers = 'system:serviceaccount:sekisho-system:sekisho-controllers'
    const spec = { app: 'a' }
    const allowed = (overrides: Partial<AdmissionRequest>) =>
      judge(deps(), request({ username: controllers, ...overrides })).allowed
    expect(allowed({})).toBe(false)
    expect(allowed({ operation: 'DELETE', object: undefined, oldObject: { spec } })).toBe(false)
    expect(allowed({ operation: 'UPDATE', object: { spec: { app: 'b' } }, oldObject: { spec } })).toBe(false)
    expect(allowed({ operation: 'UPDATE', object: { spec, metadata: { finalizers: ['x/y'] } }, oldObject: { spec } })).toBe(true)
    expect(allowed({ operation: 'UPDATE', subResource: 'status', object: { spec }, oldObject: { spec } })).toBe(true)
    // What the broker may do to Secrets, it may not.
    const secret = { group: '', resource: 'secrets', object: { metadata: { name: 'ghtok-x' } } }
    expect(judge(deps(), request(secret)).allowed).toBe(false)
    expect(allowed(secret)).toBe(true)
  })

  test('answers any object of any matched kind, and never by an exception', () => {
    const matched = rules.flatMap(rule => rule.matches)
    const anyRequest = fc.record({
      match: fc.constantFrom(...matched),
      object: fc.jsonValue(),
      oldObject: fc.jsonValue(),
      operation: fc.constantFrom('CREATE', 'UPDATE', 'DELETE'),
      pick: fc.nat(),
    })
    fc.assert(
      fc.property(anyRequest, ({ match, object, oldObject, operation, pick }) => {
        const [resource = '', subResource] = (match.resources[pick % match.resources.length] ?? '').split('/')
        const one = admissionRequest({
          apiVersion: 'admission.k8s.io/v1',
          request: {
            uid: 'u',
            operation,
            resource: { group: match.group, resource },
            ...(subResource ? { subResource: subResource === '*' ? 'status' : subResource } : {}),
            userInfo: { username: 'dave' },
            object,
            oldObject,
          },
        })
        const response = judge(deps(), one)
        expect(typeof response.allowed).toBe('boolean')
        expect(response.status?.message ?? '').not.toMatch(/the admission rule .* failed/)
        expect(fill(one).allowed).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

describe('a review', () => {
  const review = (more: object) => ({
    apiVersion: 'admission.k8s.io/v1',
    request: { uid: 'u', operation: 'CREATE', resource: { resource: 'pods' }, userInfo: { username: 'a' }, ...more },
  })

  test.each([
    ['no review', 'x'],
    ['another version', { ...review({}), apiVersion: 'admission.k8s.io/v1beta1' }],
    ['no user', review({ userInfo: {} })],
    ['no uid', review({ uid: '' })],
    ['another operation', review({ operation: 'READ' })],
    ['no resource', review({ resource: {} })],
  ])('that is %s is an error, so that the API server refuses the write', (_name, body) => {
    expect(() => admissionRequest(body)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})
