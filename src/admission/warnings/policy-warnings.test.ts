// What a dry run of a policy warns of: only then, only about what changes, and within the bounds of Kubernetes for any review.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { warn } from '../dispatch.ts'
import { type AdmissionRequest, admissionRequest } from '../review.ts'
import { policyWarnings } from './policy-warnings.ts'

type Spec = { readonly mode?: string; readonly builtInRules?: string; readonly rules: readonly object[] }

const rule = (name: string, effect = 'Deny', more: object = {}) => ({ name, effect, permissions: { contents: 'read' }, ...more })
const counts = (approved: number, waiting: number, denied: number) => ({ approved, waiting, denied })
const object = (spec: Spec, grants?: object) => ({
  metadata: { name: 'rules', namespace: 'acme' },
  spec: { mode: 'Enforce', builtInRules: 'Keep', ...spec },
  ...(grants && { status: { grants } }),
})

const request = (overrides: Partial<AdmissionRequest>): AdmissionRequest => ({
  uid: 'u',
  operation: 'UPDATE',
  group: 'github.sekisho.dev',
  resource: 'grantpolicies',
  subResource: undefined,
  namespace: 'acme',
  name: 'rules',
  username: 'olivia',
  login: undefined,
  dryRun: true,
  object: undefined,
  oldObject: undefined,
  ...overrides,
})

const grants = {
  ...counts(9, 1, 3),
  rules: [
    { name: 'no-shop', ...counts(0, 0, 2) },
    { name: 'two-people', ...counts(1, 1, 0) },
    { name: 'pushes', ...counts(8, 0, 0) },
  ],
}
const before = object(
  { rules: [rule('no-shop'), rule('two-people', 'RequireApproval'), rule('pushes', 'Allow'), rule('unused')] },
  grants,
)
const warned = (after: Spec, of = before) => policyWarnings(request({ object: object(after, grants), oldObject: of }))
const whom = 'Which grants it is about: sekisho policy test -f <file>'
const mayEnd = 'New or changed rules that deny or require approval may end grants that other rules approved.'
const decided = 'Grants that GrantPolicy rules decided: 9 approved, 1 waiting, 3 denied.'

describe('a change', () => {
  test('says what the policy decided, the rules that go and change with most grants first, and what new rules can do', () => {
    const after = {
      rules: [rule('no-shop', 'Deny', { repositories: ['acme/*'] }), rule('two-people', 'RequireApproval'), rule('never')],
    }
    expect(warned(after)).toEqual([
      decided,
      'Rule pushes goes; grants that it decided: 8 approved.',
      'Rule no-shop changes; grants that it decided: 2 denied.',
      'Other rules that change or go, with fewer grants or none: 1.',
      'New rules: 1 Deny.',
      mayEnd,
      whom,
    ])
  })

  test('of a rule that nothing names yet can still end grants, and that of a rule that allows cannot', () => {
    const changing = (name: string) =>
      warned({ rules: before.spec.rules.map(one => ('name' in one && one.name === name ? { ...one, host: 'github.com' } : one)) })
    expect(changing('unused')).toEqual([decided, 'Other rules that change or go, with fewer grants or none: 1.', mayEnd, whom])
    expect(changing('pushes')).toEqual([decided, 'Rule pushes changes; grants that it decided: 8 approved.', whom])
  })

  test('of the order of rules or fields is still about rules that say the same', () => {
    const [first, ...others] = before.spec.rules
    expect(warned({ rules: [...others, ...(first ? [first] : [])] })).toEqual([decided, whom])
  })

  test('of nothing in the spec warns of nothing, also where metadata changes', () => {
    const labelled = { ...before, metadata: { ...before.metadata, labels: { a: 'b' } } }
    expect(policyWarnings(request({ object: labelled, oldObject: before }))).toEqual([])
  })

  test('names what is more than a rule: the mode and the built-in rules', () => {
    const { rules } = before.spec
    expect(warned({ mode: 'Audit', rules })).toEqual([decided, 'Mode Audit: its rules will decide nothing.', whom])
    expect(warned({ builtInRules: 'Replace', rules })[1]).toContain('builtInRules Replace')
    const audited = { ...before, spec: { ...before.spec, mode: 'Audit', builtInRules: 'Replace' } }
    expect(warned({ rules }, audited)).toEqual([
      'Grants that GrantPolicy rules would decide: 9 approved, 1 waiting, 3 denied.',
      'Mode Enforce: its rules will decide, and change these grants.',
      'builtInRules Keep: the built-in rules will allow again.',
      whom,
    ])
    expect(warned({ mode: 'Audit', rules: [] }, audited)).toEqual([
      'GrantPolicy rules in mode Audit decides nothing: no grant changes.',
      whom,
    ])
  })

  test('that only allows more says so, and a policy without counts says that', () => {
    expect(warned({ rules: [...before.spec.rules, rule('more', 'Allow')] })).toEqual([decided, 'New rules: 1 Allow.', whom])
    const { status: _, ...uncounted } = before
    expect(warned({ rules: [] }, uncounted as typeof before)[0]).toBe('Grants that GrantPolicy rules decided: not counted yet.')
    expect(warned({ rules: [] }, object({ rules: [rule('a')] }, counts(0, 0, 0)))[0]).toBe(
      'Grants that GrantPolicy rules decided: none.',
    )
  })
})

test('a new policy has no counts, and a deleted one those of before', () => {
  const created = {
    operation: 'CREATE',
    object: object({ rules: [rule('a'), rule('b', 'Allow'), rule('c', 'Notify')] }),
  } as const
  expect(policyWarnings(request(created))).toEqual([
    'GrantPolicy rules is new: the grants that it decides are not counted yet.',
    'New rules: 1 Allow, 2 Deny.',
    mayEnd,
    whom,
  ])
  const { metadata } = before
  const cluster = { resource: 'clustergrantpolicies', name: undefined, namespace: undefined }
  const deleted = { ...cluster, operation: 'DELETE', oldObject: { ...before, metadata: { ...metadata, name: 'caps' } } } as const
  expect(policyWarnings(request(deleted))).toEqual([
    'Grants that ClusterGrantPolicy caps decided: 9 approved, 1 waiting, 3 denied.',
    'Which grants it is about: sekisho policy test --deleted --all-namespaces -f <file>',
  ])
})

test('an ordinary write, and one of another kind, get no warning, and no write is refused', () => {
  const written = { object: object({ rules: [] }), oldObject: before }
  expect(warn(request({ ...written, dryRun: false }))).toEqual({ uid: 'u', allowed: true })
  const { dryRun: _, ...unsaid } = request(written)
  expect(warn(unsaid)).toEqual({ uid: 'u', allowed: true })
  expect(warn(request({ ...written, resource: 'halts' }))).toEqual({ uid: 'u', allowed: true })
  expect(warn(request(written))).toMatchObject({ allowed: true, warnings: expect.arrayContaining([decided]) })
})

test('a name of a tenant cannot write lines of its own', () => {
  const [line] = policyWarnings(
    request({ name: 'a\nWarning: all is well\u001b[2J\u202e', oldObject: before, operation: 'DELETE' }),
  )
  expect(line).toMatch(/^Grants that GrantPolicy a\?Warning: all is well\?\[2J\? decided/)
})

test('for any review there are few warnings of at most 120 characters without control characters', () => {
  const anyText = fc.string({ unit: fc.constantFrom('a', '\n', '\u001b', '\u0085', '\u202e', '…', '😀'), maxLength: 200 })
  const numbers = fc.oneof(fc.integer(), fc.constant(Number.MAX_SAFE_INTEGER), fc.constant(null))
  const anyCounts = { approved: numbers, waiting: numbers, denied: numbers }
  const anyRule = fc.record({
    name: fc.oneof(anyText, fc.jsonValue()),
    effect: fc.string(),
  })
  const anyPolicy = fc.record({
    metadata: fc.record({ name: anyText }),
    spec: fc.oneof(
      fc.record({
        mode: fc.constantFrom('Audit', 'Enforce', 7),
        builtInRules: fc.constantFrom('Keep', 'Replace', {}),
        rules: fc.oneof(fc.array(anyRule, { maxLength: 5 }), fc.jsonValue()),
      }),
      fc.jsonValue(),
    ),
    status: fc.record({
      grants: fc.record({ ...anyCounts, rules: fc.array(fc.record({ name: anyText, ...anyCounts }), { maxLength: 5 }) }),
    }),
  })
  const anyReview = fc.record({
    object: fc.option(anyPolicy),
    oldObject: fc.option(anyPolicy),
    resource: fc.constantFrom('grantpolicies', 'clustergrantpolicies'),
    name: anyText,
  })
  fc.assert(
    fc.property(anyReview, ({ object: after, oldObject, resource, name }) => {
      const review = { uid: 'u', operation: 'UPDATE', userInfo: { username: 'a' }, dryRun: true, name, object: after, oldObject }
      const one = admissionRequest({
        apiVersion: 'admission.k8s.io/v1',
        request: { ...review, resource: { group: 'github.sekisho.dev', resource } },
      })
      const lines = policyWarnings(one)
      expect(lines.length).toBeLessThanOrEqual(10)
      for (const line of lines) {
        expect(line.length).toBeLessThanOrEqual(120)
        expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
      }
    }),
  )
})
