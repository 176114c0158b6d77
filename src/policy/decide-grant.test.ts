// The default rules as a table; the enforcer against a pure reference written from the rule's description; monotonicity.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideGrant } from './decide-grant.ts'
import { accessLevels, atomsOf, type GrantDecision, type GrantFacts, type SubjectKind } from './grant-facts.ts'
import type { GrantRule } from './grant-rule.ts'

const asks = (permissions: GrantFacts['permissions'], ...kinds: readonly SubjectKind[]): GrantFacts => ({
  repositoryIds: [11],
  permissions,
  subjects: (kinds.length === 0 ? (['ServiceAccount'] as const) : kinds).map(kind => ({ kind, name: 'x' })),
})

describe('the default rules', () => {
  const table: readonly (readonly [string, GrantFacts, GrantDecision['decision'], string])[] = [
    ['approve reading contents', asks({ contents: 'read', metadata: 'read' }), 'Approved', 'read-contents,read-metadata'],
    ['let a RemoteSync write statuses', asks({ statuses: 'write' }, 'RemoteSync'), 'Approved', 'RemoteSync-reports-statuses'],
    ['ask a person before a ServiceAccount writes statuses', asks({ statuses: 'write' }), 'WaitingForApproval', 'ask-a-person'],
    [
      'ask a person when one of several subjects is not covered',
      asks({ statuses: 'write' }, 'RemoteSync', 'ServiceAccount'),
      'WaitingForApproval',
      'ask-a-person',
    ],
    ['ask a person before contents are written', asks({ contents: 'write' }, 'RemoteSync'), 'WaitingForApproval', 'ask-a-person'],
    ['ask a person for what no rule knows', asks({ secrets: 'read' }), 'WaitingForApproval', 'ask-a-person'],
    [
      'deny administration beside what is allowed',
      asks({ contents: 'read', administration: 'read' }),
      'Denied',
      'no-administration',
    ],
    ['deny every permission on the organisation', asks({ organization_hooks: 'write' }), 'Denied', 'no-organization'],
    ['deny what asks for nothing', asks({}), 'Denied', 'nothing-asked'],
    ['deny what names no repository', { ...asks({ contents: 'read' }), repositoryIds: [] }, 'Denied', 'nothing-asked'],
  ]
  test.each(table)('%s', (_name, facts, decision, rule) => {
    expect(decideGrant(facts)).toMatchObject({ decision, rule })
  })

  test('name the wish and the rule in the reason', () => {
    expect(decideGrant(asks({ administration: 'write' })).reason).toBe(
      'administration: write on repository 11 for a ServiceAccount is denied by the rule no-administration.',
    )
  })

  test('refuse rules whose explanation would be ambiguous', () => {
    const rule: GrantRule = { id: 'a', effect: 'allow', subject: '*', repositoryId: '*', permission: '*', level: 'admin' }
    expect(() => decideGrant(asks({ contents: 'read' }), [rule, rule])).toThrow('share an id')
  })
})

const kinds = ['ServiceAccount', 'RemoteSync', 'AppPipeline'] as const
const permissionNames = ['contents', 'statuses', 'administration', 'organization_hooks', 'organization_plan', "a'b"]
const anyFacts: fc.Arbitrary<GrantFacts> = fc.record({
  repositoryIds: fc.array(fc.constantFrom(1, 2, 3), { maxLength: 3 }),
  permissions: fc.dictionary(fc.constantFrom(...permissionNames), fc.constantFrom(...accessLevels), { maxKeys: 3 }),
  subjects: fc.array(fc.record({ kind: fc.constantFrom(...kinds), name: fc.constant('x') }), { maxLength: 3 }),
})
const anyRules: fc.Arbitrary<readonly GrantRule[]> = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 8 }),
    effect: fc.constantFrom('allow' as const, 'deny' as const),
    subject: fc.constantFrom('*' as const, ...kinds),
    repositoryId: fc.constantFrom('*' as const, 1, 2),
    permission: fc.constantFrom('*', 'organization_*', ...permissionNames),
    level: fc.constantFrom(...accessLevels),
  }),
  { selector: rule => rule.id, maxLength: 8 },
)

/** The rules' description, written a second time without casbin. */
function reference(facts: GrantFacts, rules: readonly GrantRule[]): GrantDecision['decision'] {
  const atoms = atomsOf(facts)
  if (atoms.length === 0) return 'Denied'
  const verdicts = atoms.map(atom => {
    const matching = rules.filter(rule => {
      const distance = accessLevels.indexOf(atom.level) - accessLevels.indexOf(rule.level)
      return (
        (rule.subject === '*' || rule.subject === atom.subject) &&
        (rule.repositoryId === '*' || rule.repositoryId === atom.repositoryId) &&
        (rule.permission === '*' ||
          rule.permission === atom.permission ||
          (rule.permission === 'organization_*' && atom.permission.startsWith('organization_'))) &&
        (rule.effect === 'allow' ? distance <= 0 : distance >= 0)
      )
    })
    if (matching.some(rule => rule.effect === 'deny')) return 'Denied'
    return matching.length > 0 ? 'Approved' : 'WaitingForApproval'
  })
  if (verdicts.includes('Denied')) return 'Denied'
  return verdicts.includes('WaitingForApproval') ? 'WaitingForApproval' : 'Approved'
}

const order = { Denied: 0, WaitingForApproval: 1, Approved: 2 } as const

describe('the enforcer', () => {
  test('decides as the reference does, for any rules', () => {
    fc.assert(
      fc.property(anyFacts, anyRules, (facts, rules) => {
        expect(decideGrant(facts, rules).decision).toBe(reference(facts, rules))
      }),
      { numRuns: 300 },
    )
  })

  test('never allows more when an allowing rule is removed', () => {
    fc.assert(
      fc.property(anyFacts, anyRules, fc.nat(), (facts, rules, pick) => {
        const allowing = rules.filter(rule => rule.effect === 'allow')
        const removed = allowing[pick % Math.max(1, allowing.length)]
        const fewer = rules.filter(rule => rule !== removed)
        expect(order[decideGrant(facts, fewer).decision]).toBeLessThanOrEqual(order[decideGrant(facts, rules).decision])
      }),
      { numRuns: 200 },
    )
  })

  test('never allows more when more is asked', () => {
    fc.assert(
      fc.property(anyFacts, anyRules, fc.constantFrom(...permissionNames), (facts, rules, extra) => {
        fc.pre(atomsOf(facts).length > 0)
        const wider = { ...facts, permissions: { ...facts.permissions, [extra]: 'admin' as const } }
        fc.pre(facts.permissions[extra] === undefined)
        expect(order[decideGrant(wider, rules).decision]).toBeLessThanOrEqual(order[decideGrant(facts, rules).decision])
      }),
      { numRuns: 200 },
    )
  })
})
