// The default rules as a table; the enforcer against a pure reference written from the rule's description; monotonicity.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideGrant } from './decide-grant.ts'
import { atomsOf, type GrantDecision, type GrantFacts, type SubjectKind } from './grant-facts.ts'
import type { GrantRule } from './grant-rule.ts'
import { permissionLevels } from './permission-level.ts'

const request = (permissions: GrantFacts['permissions'], ...kinds: readonly SubjectKind[]): GrantFacts => ({
  repositoryIds: [11],
  permissions,
  subjects: (kinds.length === 0 ? (['ServiceAccount'] as const) : kinds).map(kind => ({ kind, name: 'x' })),
})

describe('the default rules', () => {
  const table: readonly (readonly [string, GrantFacts, GrantDecision['decision'], string])[] = [
    ['approve reading contents', request({ contents: 'read', metadata: 'read' }), 'Approved', 'read-contents,read-metadata'],
    ['let a RemoteSync write statuses', request({ statuses: 'write' }, 'RemoteSync'), 'Approved', 'RemoteSync-reports-statuses'],
    ['deny a ServiceAccount that writes statuses', request({ statuses: 'write' }), 'Denied', 'no-rule-allows'],
    [
      'deny when one of several subjects is not covered',
      request({ statuses: 'write' }, 'RemoteSync', 'ServiceAccount'),
      'Denied',
      'no-rule-allows',
    ],
    ['deny writing contents', request({ contents: 'write' }, 'RemoteSync'), 'Denied', 'no-rule-allows'],
    ['deny what no rule mentions', request({ secrets: 'read' }), 'Denied', 'no-rule-allows'],
    [
      'deny administration beside what is allowed',
      request({ contents: 'read', administration: 'read' }),
      'Denied',
      'no-administration',
    ],
    ['deny every permission on the organisation', request({ organization_hooks: 'write' }), 'Denied', 'no-organization'],
    ['deny a grant without permissions', request({}), 'Denied', 'nothing-asked'],
    ['deny a grant without repositories', { ...request({ contents: 'read' }), repositoryIds: [] }, 'Denied', 'nothing-asked'],
  ]
  test.each(table)('%s', (_name, facts, decision, rule) => {
    expect(decideGrant(facts)).toMatchObject({ decision, rule })
  })

  test('name the request and the rule in the reason', () => {
    expect(decideGrant(request({ administration: 'write' })).reason).toBe(
      'administration: write on repository 11 for a ServiceAccount is denied by the rule no-administration.',
    )
    expect(decideGrant(request({ contents: 'write' })).reason).toBe(
      'No rule allows contents: write on repository 11 for a ServiceAccount: request less, or an admin of the tenant and a platform admin write policies that allow it.',
    )
  })

  test('names the repository, beside its id', () => {
    const facts = {
      ...request({ contents: 'write' }),
      repositoryNames: new Map([[request({}).repositoryIds[0] ?? 0, 'acme/shop']]),
    }
    expect(decideGrant(facts).reason).toMatch(/contents: write on acme\/shop \(id \d+\) for a/)
  })

  test('refuse rules whose explanation would be ambiguous', () => {
    const rule: GrantRule = { id: 'a', effect: 'allow', subject: '*', repositoryId: '*', permission: '*', level: 'admin' }
    expect(() => decideGrant(request({ contents: 'read' }), [rule, rule])).toThrow('share an id')
  })
})

const kinds = ['ServiceAccount', 'RemoteSync'] as const
const permissionNames = ['contents', 'statuses', 'administration', 'organization_hooks', 'organization_plan', "a'b"]
const anyFacts: fc.Arbitrary<GrantFacts> = fc.record({
  repositoryIds: fc.array(fc.constantFrom(1, 2, 3), { maxLength: 3 }),
  permissions: fc.dictionary(fc.constantFrom(...permissionNames), fc.constantFrom(...permissionLevels), { maxKeys: 3 }),
  subjects: fc.array(fc.record({ kind: fc.constantFrom(...kinds), name: fc.constant('x') }), { maxLength: 3 }),
})
const anyRules: fc.Arbitrary<readonly GrantRule[]> = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 8 }),
    effect: fc.constantFrom('allow' as const, 'deny' as const),
    subject: fc.constantFrom('*' as const, ...kinds),
    repositoryId: fc.constantFrom('*' as const, 1, 2),
    permission: fc.constantFrom('*', 'organization_*', ...permissionNames),
    level: fc.constantFrom(...permissionLevels),
  }),
  { selector: rule => rule.id, maxLength: 8 },
)

type Outcome = 'denied' | 'not-allowed' | 'approved'

/** The decision, with the two kinds of denial apart: by a rule, and because no rule allows. */
function outcomeOf({ decision, rule }: GrantDecision): Outcome {
  if (decision === 'Approved') return 'approved'
  return rule === 'no-rule-allows' ? 'not-allowed' : 'denied'
}

/** The rules' description, written a second time without casbin. */
function reference(facts: GrantFacts, rules: readonly GrantRule[]): Outcome {
  const atoms = atomsOf(facts)
  if (atoms.length === 0) return 'denied'
  const outcomes = atoms.map((atom): Outcome => {
    const matching = rules.filter(rule => {
      const distance = permissionLevels.indexOf(atom.level) - permissionLevels.indexOf(rule.level)
      return (
        (rule.subject === '*' || rule.subject === atom.subject) &&
        (rule.repositoryId === '*' || rule.repositoryId === atom.repositoryId) &&
        (rule.permission === '*' ||
          rule.permission === atom.permission ||
          (rule.permission === 'organization_*' && atom.permission.startsWith('organization_'))) &&
        (rule.effect === 'allow' ? distance <= 0 : distance >= 0)
      )
    })
    if (matching.some(rule => rule.effect === 'deny')) return 'denied'
    return matching.length > 0 ? 'approved' : 'not-allowed'
  })
  if (outcomes.includes('denied')) return 'denied'
  return outcomes.includes('not-allowed') ? 'not-allowed' : 'approved'
}

const order = { denied: 0, 'not-allowed': 1, approved: 2 } as const

describe('the enforcer', () => {
  test('decides as the reference does, for any rules', () => {
    fc.assert(
      fc.property(anyFacts, anyRules, (facts, rules) => {
        expect(outcomeOf(decideGrant(facts, rules))).toBe(reference(facts, rules))
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
        expect(order[outcomeOf(decideGrant(facts, fewer))]).toBeLessThanOrEqual(order[outcomeOf(decideGrant(facts, rules))])
      }),
      { numRuns: 200 },
    )
  })

  test('never allows more when more is requested', () => {
    fc.assert(
      fc.property(anyFacts, anyRules, fc.constantFrom(...permissionNames), (facts, rules, extra) => {
        fc.pre(atomsOf(facts).length > 0)
        const wider = { ...facts, permissions: { ...facts.permissions, [extra]: 'admin' as const } }
        fc.pre(facts.permissions[extra] === undefined)
        expect(order[outcomeOf(decideGrant(wider, rules))]).toBeLessThanOrEqual(order[outcomeOf(decideGrant(facts, rules))])
      }),
      { numRuns: 200 },
    )
  })
})
