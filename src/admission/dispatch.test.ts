// The dispatcher and every rule against any input: always an answer, never an exception, and a refusal when something is wrong.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { silentLog } from '../lib/testing/silent-log.ts'
import { type DispatchDeps, evaluate, fill } from './dispatch.ts'
import { type AdmissionRequest, admissionRequest } from './review.ts'
import type { Rule } from './rule.ts'
import { rules } from './rules/index.ts'

const broker = 'system:serviceaccount:sekisho-system:sekisho-broker'
const controllers = 'system:serviceaccount:sekisho-system:sekisho-controllers'
const deps = (overrides: Partial<DispatchDeps> = {}): DispatchDeps => ({
  rules,
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
  username: broker,
  login: undefined,
  object: {},
  oldObject: undefined,
  ...overrides,
})

describe('the dispatcher', () => {
  test('allows what no rule refuses', () => {
    expect(evaluate(deps(), request())).toEqual({ uid: 'u', allowed: true })
  })

  test('refuses with 403 and the rule’s message', () => {
    expect(evaluate(deps(), request({ username: 'dave' }))).toMatchObject({
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: expect.stringContaining('onboards') },
    })
  })

  test('refuses when a rule fails, and does not disclose the failure', () => {
    const [first] = rules
    if (!first) return expect.fail('there are no rules')
    const failing: Rule = {
      ...first,
      check: () => {
        throw new Error('detail')
      },
    }
    const response = evaluate(deps({ rules: [failing] }), request())
    expect(response).toMatchObject({ allowed: false, status: { code: 500 } })
    expect(JSON.stringify(response)).not.toContain('detail')
  })

  test('refuses what no rule matches, and does not answer what is too late', () => {
    expect(evaluate(deps(), request({ resource: 'unknown' }))).toMatchObject({ allowed: false, status: { code: 500 } })
    expect(evaluate(deps(), request({ subResource: 'status', resource: 'secrets', group: '' }))).toMatchObject({ allowed: false })
    expect(() => evaluate(deps({ elapsedMilliseconds: () => 2000 }), request())).toThrow(
      expect.objectContaining({ code: 'unavailable' }),
    )
  })

  test('allows controllers status and metadata only, and keeps reserved Secrets from the broker', () => {
    const spec = { app: 'a' }
    const allowed = (overrides: Partial<AdmissionRequest>) =>
      evaluate(deps(), request({ username: controllers, ...overrides })).allowed
    expect(allowed({})).toBe(false)
    expect(allowed({ operation: 'DELETE', object: undefined, oldObject: { spec } })).toBe(false)
    expect(allowed({ operation: 'UPDATE', object: { spec: { app: 'b' } }, oldObject: { spec } })).toBe(false)
    expect(allowed({ operation: 'UPDATE', object: { spec, metadata: { finalizers: ['x/y'] } }, oldObject: { spec } })).toBe(true)
    expect(allowed({ operation: 'UPDATE', subResource: 'status', object: { spec }, oldObject: { spec } })).toBe(true)
    const secret = { group: '', resource: 'secrets', object: { metadata: { name: 'ghtok-x' } } }
    expect(evaluate(deps(), request(secret)).allowed).toBe(false)
    expect(allowed(secret)).toBe(true)
  })

  test('answers for any object of any matched kind, and never throws', () => {
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
        const response = evaluate(deps(), one)
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
    ['not a review', 'x'],
    ['of another version', { ...review({}), apiVersion: 'admission.k8s.io/v1beta1' }],
    ['without a user', review({ userInfo: {} })],
    ['without a uid', review({ uid: '' })],
    ['of another operation', review({ operation: 'READ' })],
    ['without a resource', review({ resource: {} })],
  ])('that is %s is an error', (_name, body) => {
    expect(() => admissionRequest(body)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})
