// What is counted for a policy: of which grants, by which decision, in which mode.
import { expect, test } from 'vitest'
import type { GrantPolicy } from '../../api/github/grant-policy.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { createObjectCache } from '../../kube/cache/object-cache.ts'
import { grantObject } from '../../services/token-desk/testing/desk-objects.ts'
import { grantCounts, grantsOfPolicies } from './counts.ts'

const now = new Date('2026-06-01T12:00:00Z')
type Status = NonNullable<RepositoryGrant['status']>

function policy(mode: 'Enforce' | 'Audit' = 'Enforce'): GrantPolicy {
  const rule = { effect: 'Deny', permissions: { contents: 'read' } } as const
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'GrantPolicy',
    metadata: { name: 'rules', namespace: 'acme', uid: 'p' },
    spec: { mode, builtInRules: 'Keep', rules: ['one', 'two'].map(name => ({ name, ...rule })) },
  }
}

let number = 0
const grant = (status: Partial<Status>, metadata: object = {}): RepositoryGrant =>
  grantObject({ name: `g-${++number}`, status: { expiresAt: '2026-06-02T00:00:00Z', ...status }, metadata })

const [one, two] = ['GrantPolicy/rules/one', 'GrantPolicy/rules/two']
const count = (grants: readonly RepositoryGrant[], mode?: 'Enforce' | 'Audit') =>
  grantCounts('GrantPolicy', policy(mode), grants, now)

test('a grant counts once for the policy, and once for each rule that its decision names', () => {
  const grants = [
    grant({ decision: 'Approved', rule: `${one},${two},ClusterGrantPolicy/rules/one` }),
    grant({ decision: 'Approved', rule: `GrantApproval/yes,${two}` }),
    grant({ decision: 'Waiting', rule: two }),
    grant({ decision: 'Denied', rule: one }),
    grant({ decision: 'Denied', rule: 'ClusterGrantPolicy/rules/one' }),
    grant({ decision: 'Denied', rule: 'GrantPolicy/rules-of-others/one' }),
    grant({ decision: 'Approved', rule: 'read-contents' }),
  ]
  expect(count(grants)).toEqual({
    ...{ approved: 2, waiting: 1, denied: 1 },
    rules: [
      { name: 'one', approved: 1, waiting: 0, denied: 1 },
      { name: 'two', approved: 2, waiting: 1, denied: 0 },
    ],
  })
})

test('what no change can hit is not counted: expired, being deleted, not decided', () => {
  const denied = { decision: 'Denied', rule: one } as const
  const ended = [
    grant({ ...denied, expiresAt: '2026-06-01T12:00:00Z' }),
    grant(denied, { deletionTimestamp: '2026-06-01T11:59:00Z' }),
    { ...grant({}), status: {} },
  ]
  expect(count(ended)).toEqual({ approved: 0, waiting: 0, denied: 0 })
})

test('a rule that the policy has no more counts for the policy alone', () => {
  expect(count([grant({ decision: 'Denied', rule: 'GrantPolicy/rules/gone' })])).toEqual({ approved: 0, waiting: 0, denied: 1 })
})

test('in mode Audit what there would be is counted, and not what is', () => {
  const audit = { decision: 'Denied', rule: one, message: '' } as const
  const grants = [grant({ decision: 'Approved', rule: two, audit }), grant({ decision: 'Approved', rule: two })]
  expect(count(grants, 'Audit')).toMatchObject({ approved: 0, denied: 1, rules: [{ name: 'one', denied: 1 }] })
  expect(count(grants)).toMatchObject({ approved: 2, denied: 0, rules: [{ name: 'two', approved: 2 }] })
})

test('a GrantPolicy has the grants of its namespace, a ClusterGrantPolicy those of all', () => {
  const cache = createObjectCache<RepositoryGrant>()
  const grantsOf = grantsOfPolicies(cache)
  // Both controllers ask for the same index.
  grantsOfPolicies(cache)
  const rule = `${one},ClusterGrantPolicy/rules/one`
  const audit = { decision: 'Denied', rule: 'GrantPolicy/audited/one', message: '' } as const
  cache.replace([grant({ rule, audit }), grant({ rule }, { namespace: 'globex' })])
  const namespacesOf = (found: readonly RepositoryGrant[]) => found.map(({ metadata }) => metadata.namespace)
  expect(namespacesOf(grantsOf('GrantPolicy', { namespace: 'acme', name: 'rules' }))).toEqual(['acme'])
  expect(namespacesOf(grantsOf('GrantPolicy', { namespace: 'acme', name: 'audited' }))).toEqual(['acme'])
  expect(namespacesOf(grantsOf('ClusterGrantPolicy', { name: 'rules' }))).toEqual(['acme', 'globex'])
  expect(grantsOf('GrantPolicy', { namespace: 'initech', name: 'rules' })).toEqual([])
})
