// Policies against casbin over all rules; unknown facts against every way in which they can turn out; what wins over what.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decidePolicies, noPolicies, type PolicySet, policiesDigest } from './decide-policies.ts'
import type { PolicyFacts, PolicyVerdict } from './policy-facts.ts'
import { policyLayer } from './policy-layer.ts'
import type { Policy } from './policy-row.ts'
import { anyFacts, anyPolicies, atomsOfFacts, completed } from './testing/any-policies.ts'
import { plainCasbin, plainLifetime } from './testing/plain-casbin.ts'
import { tokenSeconds } from './token-lifetime.ts'

const setOf = (cluster: readonly Policy[], namespace: readonly Policy[]): PolicySet => ({
  cluster: policyLayer('ClusterGrantPolicy', cluster),
  namespace: policyLayer('GrantPolicy', namespace),
})

/** The effect, and how many have to approve. */
function plainEffect(cluster: readonly Policy[], namespace: readonly Policy[], facts: PolicyFacts) {
  const layers = [plainCasbin('ClusterGrantPolicy', cluster), plainCasbin('GrantPolicy', namespace)]
  const effects = atomsOfFacts(facts).flatMap(atom => layers.map(layer => layer(facts, atom)))
  if (effects.some(effect => effect === 'deny' || effect === 'none')) return { effect: 'Deny' }
  const approvals = Math.max(0, ...effects.filter(effect => typeof effect === 'number'))
  return approvals === 0 ? { effect: 'Allow' } : { effect: 'RequireApproval', approvals }
}

const choices = fc.array(fc.nat(5), { minLength: 8, maxLength: 8 })

describe('the index', () => {
  test('decides as casbin over all rules does, for any policies and facts', () => {
    fc.assert(
      fc.property(anyPolicies, anyPolicies, anyFacts, choices, (cluster, namespace, facts, picks) => {
        const known = completed(facts, picks)
        expect(decidePolicies(setOf(cluster, namespace), known)).toMatchObject(plainEffect(cluster, namespace, known))
      }),
      { numRuns: 500 },
    )
  })

  test('says nothing about unknown facts that any outcome of them contradicts', () => {
    fc.assert(
      fc.property(anyPolicies, anyPolicies, anyFacts, choices, (cluster, namespace, facts, picks) => {
        const set = setOf(cluster, namespace)
        const { effect } = decidePolicies(set, facts)
        fc.pre(effect !== 'Unknown')
        expect(decidePolicies(set, completed(facts, picks)).effect).toBe(effect)
      }),
      { numRuns: 500 },
    )
  })

  test('names for each subject the shortest life of tokens for which casbin finds a rule, for any policies and facts', () => {
    fc.assert(
      fc.property(anyPolicies, anyPolicies, anyFacts, choices, (cluster, namespace, facts, picks) => {
        const known = completed(facts, picks)
        const verdict = decidePolicies(setOf(cluster, namespace), known)
        fc.pre(verdict.effect === 'Allow' || verdict.effect === 'RequireApproval')
        const layers = [plainLifetime(cluster), plainLifetime(namespace)]
        const usual = (kind: string): number => (kind === 'ServiceAccount' || kind === 'Application' ? 900 : 3600)
        for (const subject of known.subjects) {
          const atoms = atomsOfFacts({ ...known, subjects: [subject] })
          const each = atoms.map(atom => {
            const named = layers.flatMap(layer => layer(known, atom) ?? [])
            return named.length === 0 ? usual(subject.kind) : Math.min(...named)
          })
          expect(tokenSeconds(verdict.lifetimes, subject)).toBe(Math.min(...each))
        }
      }),
      { numRuns: 200 },
    )
  })

  test('says no life of tokens that any outcome of what is unknown contradicts', () => {
    fc.assert(
      fc.property(anyPolicies, anyPolicies, anyFacts, choices, (cluster, namespace, facts, picks) => {
        const set = setOf(cluster, namespace)
        const verdict = decidePolicies(set, facts)
        fc.pre(verdict.effect === 'Allow' || verdict.effect === 'RequireApproval')
        expect(decidePolicies(set, completed(facts, picks))).toMatchObject({ lifetimes: verdict.lifetimes })
      }),
      { numRuns: 150 },
    )
  })

  test('needs something whenever it does not know', () => {
    fc.assert(
      fc.property(anyPolicies, anyFacts, (policies, facts) => {
        const verdict = decidePolicies(setOf([], policies), facts)
        if (verdict.effect !== 'Unknown') return
        const { teams, roles, repositories } = verdict.needs
        expect(teams.length + roles.length > 0 || repositories).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('never allows more with one more policy of the cluster that denies', () => {
    fc.assert(
      fc.property(anyPolicies, anyPolicies, anyFacts, choices, (cluster, namespace, facts, picks) => {
        const known = completed(facts, picks)
        fc.pre(decidePolicies(setOf(cluster, namespace), known).effect === 'Deny')
        const more = [...cluster, policy('more', [{ name: 'deny', effect: 'Deny', permissions: { contents: 'read' } }])]
        expect(decidePolicies(setOf(more, namespace), known).effect).toBe('Deny')
      }),
      { numRuns: 200 },
    )
  })
})

type Rule = Policy['spec']['rules'][number]

function policy(name: string, rules: readonly Rule[], builtInRules: 'Keep' | 'Replace' = 'Keep'): Policy {
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'GrantPolicy',
    metadata: { name },
    spec: { mode: 'Enforce', builtInRules, rules: [...rules] },
  }
}

const request = (permissions: PolicyFacts['permissions'], change: Partial<PolicyFacts> = {}): PolicyFacts => ({
  host: 'github.com',
  requester: { personId: 42, memberships: new Map() },
  repositories: [{ id: 11, name: 'acme/shop', visibility: 'private' }],
  permissions,
  subjects: [{ kind: 'ServiceAccount', name: 'runner' }],
  delivery: 'TokenEndpoint',
  refs: ['refs/*'],
  ...change,
})

const byProgram = { requester: { personId: undefined, memberships: new Map(), isNobody: true } } as const
const ofDevelopers = { requesters: [{ type: 'Role' as const, role: 'developer' as const }] }
const inSecret = { delivery: 'Secret' } as const
const unnamed: Rule = { name: 'opt-in', effect: 'Allow', permissions: { contents: 'read' } }
const optIn: Rule = { ...unnamed, deliveries: ['Secret'] }
const writing: Rule = { name: 'write', effect: 'Allow', repositories: ['acme/*'], permissions: { contents: 'write' } }

const pushing: Rule = { name: 'push', effect: 'Allow', permissions: { contents: 'write' }, refs: ['refs/heads/release/*'] }
const toPush = (...refs: readonly string[]) => request({ contents: 'write' }, { delivery: 'GitProxy', refs })

describe('what wins', () => {
  const cases: readonly (readonly [string, readonly Policy[], readonly Policy[], PolicyFacts, Partial<PolicyVerdict>])[] = [
    ['without policies, reading as ever', [], [], request({ contents: 'read' }), { effect: 'Allow' }],
    ['without policies, no writing', [], [], request({ contents: 'write' }), { effect: 'Deny', rule: 'no-grant-policy-allows' }],
    [
      'a tenant cannot allow what the platform does not',
      [],
      [policy('a', [writing])],
      request({ contents: 'write' }),
      { effect: 'Deny', rule: 'no-cluster-grant-policy-allows' },
    ],
    [
      'what the platform lets tenants allow is not allowed by that',
      [policy('cap', [writing])],
      [],
      request({ contents: 'write' }),
      { effect: 'Deny', rule: 'no-grant-policy-allows' },
    ],
    [
      'what both allow is allowed',
      [policy('cap', [writing])],
      [policy('a', [writing])],
      request({ contents: 'write' }),
      { effect: 'Allow', rules: ['GrantPolicy/a/write', 'ClusterGrantPolicy/cap/write'] },
    ],
    [
      'who allows themselves what the platform does not gets nothing by it',
      [],
      [policy('own', [{ ...writing, requesters: [{ type: 'Person', id: 42 }] }], 'Replace')],
      request({ contents: 'write' }),
      { effect: 'Deny', rule: 'no-cluster-grant-policy-allows' },
    ],
    [
      'two policies that contradict each other deny, whichever comes first',
      [policy('cap', [writing])],
      [policy('z', [{ ...writing, name: 'never', effect: 'Deny' }]), policy('a', [writing])],
      request({ contents: 'write' }),
      { effect: 'Deny', rule: 'GrantPolicy/z/never' },
    ],
    [
      'a denial wins over any number of allowances',
      [policy('cap', [writing])],
      [policy('a', [writing]), policy('b', [{ ...writing, name: 'never', effect: 'Deny' }])],
      request({ contents: 'write' }),
      { effect: 'Deny', rule: 'GrantPolicy/b/never', origin: 'GrantPolicy' },
    ],
    [
      'what the platform always denies, a ClusterGrantPolicy cannot allow',
      [policy('cap', [{ name: 'all', effect: 'Allow', permissions: { '*': 'admin' } }], 'Replace')],
      [policy('a', [{ name: 'all', effect: 'Allow', permissions: { '*': 'admin' } }], 'Replace')],
      request({ administration: 'read' }),
      { effect: 'Deny', rule: 'no-administration', origin: 'built-in' },
    ],
    [
      'one policy that replaces the built-in rules leaves what rules allow',
      [],
      [policy('a', [{ name: 'checks', effect: 'Allow', permissions: { checks: 'read' } }], 'Replace')],
      request({ contents: 'read' }),
      { effect: 'Deny', rule: 'no-grant-policy-allows' },
    ],
    [
      'a denial applies from its level on',
      [],
      [policy('a', [{ name: 'no-writes', effect: 'Deny', permissions: { statuses: 'write' } }])],
      request({ statuses: 'read' }),
      { effect: 'Allow' },
    ],
    [
      'a certain denial does not wait for what is unknown',
      [],
      [
        policy('a', [
          { name: 'team', effect: 'Deny', requesters: [{ type: 'Team', id: 7 }], permissions: { contents: 'read' } },
          { name: 'shop', effect: 'Deny', repositories: ['ACME/SHOP'], permissions: { contents: 'read' } },
        ]),
      ],
      request({ contents: 'read' }),
      { effect: 'Deny', rule: 'GrantPolicy/a/shop' },
    ],
    [
      'a denial of a team needs the team',
      [],
      [policy('a', [{ name: 'team', effect: 'Deny', requesters: [{ type: 'Team', id: 7 }], permissions: { '*': 'read' } }])],
      request({ contents: 'read' }),
      { effect: 'Unknown', needs: { teams: [7], roles: [], repositories: false } },
    ],
    [
      'a role of one who does not have it does not count',
      [],
      [policy('a', [{ name: 'r', effect: 'Deny', requesters: [{ type: 'Role', role: 'admin' }], permissions: { '*': 'read' } }])],
      request({ contents: 'read' }, { requester: { personId: 42, memberships: new Map([['role:admin', false]]) } }),
      { effect: 'Allow' },
    ],
    [
      'approval is required from its level on, and allows its level',
      [policy('cap', [writing])],
      [policy('a', [{ ...writing, effect: 'RequireApproval' }])],
      request({ contents: 'write' }),
      { effect: 'RequireApproval', approvals: 1, rules: ['GrantPolicy/a/write', 'ClusterGrantPolicy/cap/write'] },
    ],
    [
      'what is below the level of an approval is as before',
      [],
      [policy('a', [{ ...writing, effect: 'RequireApproval' }])],
      request({ contents: 'read' }),
      { effect: 'Allow' },
    ],
    [
      'more access than with approval is not allowed by it, and not without it',
      [],
      [
        policy('a', [
          { ...writing, name: 'read', effect: 'RequireApproval', permissions: { contents: 'read' } },
          { ...writing, permissions: { contents: 'admin' } },
        ]),
      ],
      request({ contents: 'write' }),
      { effect: 'Deny', rule: 'no-cluster-grant-policy-allows' },
    ],
    [
      'what allows as well does not spare the approval, of which the highest number counts',
      [policy('cap', [{ ...writing, effect: 'RequireApproval', approvals: 3 }])],
      [policy('a', [writing, { ...writing, name: 'two', effect: 'RequireApproval', approvals: 2 }])],
      request({ contents: 'write' }),
      { effect: 'RequireApproval', approvals: 3 },
    ],
    [
      'an approval of a team needs the team',
      [],
      [
        policy('a', [
          { name: 't', effect: 'RequireApproval', requesters: [{ type: 'Team', id: 7 }], permissions: { contents: 'read' } },
        ]),
      ],
      request({ contents: 'read' }),
      { effect: 'Unknown', needs: { teams: [7], roles: [], repositories: false } },
    ],
    [
      'a denial wins over an approval',
      [],
      [
        policy('a', [
          { name: 'ask', effect: 'RequireApproval', permissions: { contents: 'read' } },
          { name: 'no', effect: 'Deny', permissions: { contents: 'read' } },
        ]),
      ],
      request({ contents: 'read' }),
      { effect: 'Deny', rule: 'GrantPolicy/a/no' },
    ],
    [
      'an effect of a later version denies',
      [],
      [policy('a', [{ name: 'later', effect: 'Notify' as 'Deny', permissions: { contents: 'read' } }])],
      request({ contents: 'read' }),
      { effect: 'Deny', rule: 'GrantPolicy/a/later' },
    ],
    [
      'ids of another host are others',
      [],
      [
        policy('a', [
          { name: 'h', effect: 'Deny', host: 'github.example.com', repositoryIds: [11], permissions: { contents: 'read' } },
        ]),
      ],
      request({ contents: 'read' }),
      { effect: 'Allow' },
    ],
    [
      'no token in a Secret without a policy',
      [],
      [],
      request({ contents: 'read' }, inSecret),
      { effect: 'Deny', rule: 'no-cluster-grant-policy-allows', message: expect.stringContaining('deliveries') },
    ],
    [
      'no token in a Secret by a rule of the cluster that does not name the delivery',
      [policy('cap', [{ ...unnamed, permissions: { '*': 'admin' } }])],
      [policy('a', [optIn])],
      request({ contents: 'read' }, inSecret),
      { effect: 'Deny', rule: 'no-cluster-grant-policy-allows' },
    ],
    [
      'nor by one that requires approval and does not name it',
      [policy('cap', [{ ...unnamed, effect: 'RequireApproval' }])],
      [],
      request({ contents: 'read' }, inSecret),
      { effect: 'Deny', rule: 'no-cluster-grant-policy-allows' },
    ],
    [
      'a token in a Secret by a rule of the cluster that names the delivery',
      [policy('cap', [optIn])],
      [],
      request({ contents: 'read' }, inSecret),
      { effect: 'Allow', rules: ['read-contents', 'ClusterGrantPolicy/cap/opt-in'] },
    ],
    [
      'which says nothing about others',
      [policy('cap', [{ ...optIn, effect: 'Deny' }])],
      [],
      request({ contents: 'read' }),
      { effect: 'Allow', rules: ['read-contents'] },
    ],
    [
      'a tenant denies the delivery that the platform allows',
      [policy('cap', [optIn])],
      [policy('a', [{ name: 'none', effect: 'Deny', permissions: { '*': 'read' }, deliveries: ['Secret'] }])],
      request({ contents: 'read' }, inSecret),
      { effect: 'Deny', rule: 'GrantPolicy/a/none' },
    ],
    [
      'and denies it by a rule that names no delivery',
      [policy('cap', [optIn])],
      [policy('a', [{ name: 'none', effect: 'Deny', permissions: { '*': 'read' } }])],
      request({ contents: 'read' }, inSecret),
      { effect: 'Deny', rule: 'GrantPolicy/a/none' },
    ],
    [
      'a push within the refs of the rules of both',
      [policy('cap', [{ ...pushing, refs: ['refs/heads/*'] }])],
      [policy('a', [pushing])],
      toPush('refs/heads/release/1', 'refs/heads/release/*'),
      { effect: 'Allow', rules: ['GrantPolicy/a/push', 'ClusterGrantPolicy/cap/push'] },
    ],
    [
      'not beyond those of the tenant',
      [policy('cap', [writing])],
      [policy('a', [pushing])],
      toPush('refs/heads/release/1', 'refs/heads/main'),
      { effect: 'Deny', rule: 'no-grant-policy-allows', message: expect.stringContaining('to push to refs/heads/main') },
    ],
    [
      'not beyond those of the platform',
      [policy('cap', [pushing])],
      [policy('a', [writing])],
      toPush('refs/heads/*'),
      { effect: 'Deny', rule: 'no-cluster-grant-policy-allows', message: expect.stringContaining('to push to refs/heads/*') },
    ],
    [
      'not by a token, which pushes anywhere',
      [policy('cap', [writing])],
      [policy('a', [{ ...pushing, refs: ['refs/heads/*', 'refs/tags/*'] }])],
      request({ contents: 'write' }),
      { effect: 'Deny', rule: 'no-grant-policy-allows' },
    ],
    [
      'two rules for two refs of one grant',
      [policy('cap', [writing])],
      [policy('a', [pushing, { ...pushing, name: 'tags', refs: ['refs/tags/v*'] }])],
      toPush('refs/heads/release/1', 'refs/tags/v1.*'),
      { effect: 'Allow', rules: ['GrantPolicy/a/push', 'ClusterGrantPolicy/cap/write', 'GrantPolicy/a/tags'] },
    ],
    [
      'a denial of a ref that one of those asked for may mean',
      [policy('cap', [writing])],
      [policy('a', [writing, { ...pushing, name: 'main', effect: 'Deny', refs: ['refs/heads/main'] }])],
      toPush('refs/tags/*', 'refs/heads/m*'),
      { effect: 'Deny', rule: 'GrantPolicy/a/main', message: expect.stringContaining('to push to refs/heads/m*') },
    ],
    [
      'no denial of a ref that is not asked for, nor of reading',
      [policy('cap', [writing])],
      [policy('a', [writing, { ...pushing, name: 'main', effect: 'Deny', refs: ['refs/heads/main'] }])],
      toPush('refs/heads/release/*'),
      { effect: 'Allow' },
    ],
    [
      'approval for one ref of those asked for, which allows no other',
      [policy('cap', [writing])],
      [policy('a', [pushing, { ...pushing, name: 'main', effect: 'RequireApproval', refs: ['refs/heads/main'] }])],
      toPush('refs/heads/main', 'refs/heads/release/1'),
      { effect: 'RequireApproval', approvals: 1, message: expect.stringContaining('to push to refs/heads/main') },
    ],
    [
      'approval for a ref does not allow what means more',
      [policy('cap', [writing])],
      [policy('a', [{ ...pushing, name: 'main', effect: 'RequireApproval', refs: ['refs/heads/main'] }])],
      toPush('refs/heads/m*'),
      { effect: 'Deny', rule: 'no-grant-policy-allows' },
    ],
    [
      'approval that is required for every delivery is required for a Secret, too',
      [policy('cap', [optIn, { ...unnamed, name: 'ask', effect: 'RequireApproval' }])],
      [],
      request({ contents: 'read' }, inSecret),
      { effect: 'RequireApproval', approvals: 1 },
    ],
  ]
  const ofPrograms: typeof cases = [
    [
      'what is denied to a role is denied to a program, behind which may be one who has it',
      [],
      [policy('a', [{ name: 'no', effect: 'Deny', ...ofDevelopers, permissions: { contents: 'read' } }])],
      request({ contents: 'read' }, byProgram),
      { effect: 'Deny', rule: 'GrantPolicy/a/no' },
    ],
    [
      'what needs approval for a person, a team or a role needs it for a program',
      [
        policy('cap', [
          { name: 'c', effect: 'RequireApproval', requesters: [{ type: 'Team', id: 7 }], permissions: { '*': 'read' } },
        ]),
      ],
      [
        policy('a', [
          {
            ...{ name: 'p', effect: 'RequireApproval', approvals: 2, requesters: [{ type: 'Person', id: 42 }] },
            permissions: { contents: 'read' },
          },
        ]),
      ],
      request({ contents: 'read' }, byProgram),
      { effect: 'RequireApproval', approvals: 2 },
    ],
    [
      'what is allowed to a role is not allowed to a program, nor with approval',
      [policy('cap', [writing])],
      [
        policy('a', [
          { ...writing, ...ofDevelopers },
          { ...writing, ...ofDevelopers, name: 'ask', effect: 'RequireApproval' },
        ]),
      ],
      request({ contents: 'write' }, byProgram),
      { effect: 'Deny', rule: 'no-grant-policy-allows' },
    ],
  ]
  test.each([...cases, ...ofPrograms])('%s', (...[, cluster, namespace, facts, verdict]) => {
    expect(decidePolicies(setOf(cluster, namespace), facts)).toMatchObject(verdict)
  })

  test('a denial says what it denies, and by which rule', () => {
    const set = setOf(
      [],
      [policy('a', [{ name: 'shop', effect: 'Deny', repositories: ['acme/shop'], permissions: { '*': 'read' } }])],
    )
    expect(decidePolicies(set, request({ contents: 'read' }))).toMatchObject({
      message: 'contents: read on acme/shop (id 11) for the ServiceAccount runner is denied by the rule GrantPolicy/a/shop',
    })
  })
})

test('the digest changes with what policies say, and not with their order', () => {
  const [a, b] = [policy('a', [writing]), policy('b', [writing])]
  expect(policiesDigest(noPolicies)).toBeUndefined()
  expect(policiesDigest(setOf([], [a, b]))).toBe(policiesDigest(setOf([], [b, a])))
  expect(policiesDigest(setOf([], [a]))).not.toBe(policiesDigest(setOf([], [b])))
  expect(policiesDigest(setOf([a], []))).not.toBe(policiesDigest(setOf([], [a])))
})
