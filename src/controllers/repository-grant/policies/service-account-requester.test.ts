// A grant that a ServiceAccount requests, such as that of a GitOps tool: it waits for a person who has the access on GitHub, and
// everything else that stands in the way of a grant does so for it, too.
import { describe, expect, test } from 'vitest'
import type { GrantPolicy } from '../../../api/github/grant-policy.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { RepositoryPermission } from '../../../github/index.ts'
import { type Answers, noAnswers } from '../../../policy/grants/approvals.ts'
import { compilePolicies, noGrantPolicies } from '../../../policy/grants/grant-policies.ts'
import { grantObject, host, installationObject } from '../../../services/token-desk/testing/desk-objects.ts'
import { decide } from '../decide.ts'
import type { Facts, GitHubAnswer } from '../gather.ts'
import { nextStatus } from '../status.ts'
import { isDecidedUnasked } from './known-of-grant.ts'

const [olivia, mia] = [`github|${host}|1001`, `github|${host}|1003`]
const { status: _status, ...undecided } = grantObject({
  spec: { requestedBy: 'system:serviceaccount:argocd:argocd-application-controller' },
})
const fresh: RepositoryGrant = undecided

/** `roles`: those of the people who approved. */
function found(...roles: readonly RepositoryPermission[]): GitHubAnswer {
  return {
    kind: 'found',
    repositories: [{ id: 4001, name: 'acme/shop' }],
    missing: [],
    archived: [],
    requester: { kind: 'nobody', approvers: new Map([[4001, roles]]) },
  }
}

function facts(change: Partial<Facts>): Facts {
  return {
    object: fresh,
    installation: installationObject,
    installationReady: true,
    answer: found(),
    halts: [],
    applications: [],
    policies: noGrantPolicies,
    answers: noAnswers,
    endedApprovals: [],
    memberships: new Map(),
    tenant: 'acme',
    askedAt: new Date('2026-06-01T12:00:00Z'),
    ...change,
  }
}

const by = (...people: readonly string[]): Answers => ({
  ...noAnswers,
  approvals: people.map(one => ({ by: one, reason: 'it is ours' })),
})

function policies(rule: Partial<GrantPolicy['spec']['rules'][number]>, mode: 'Enforce' | 'Audit' = 'Enforce') {
  const rules = [{ name: 'one', effect: 'Deny' as const, permissions: { contents: 'read' as const }, ...rule }]
  const spec = { mode, builtInRules: 'Keep', rules } as const
  const metadata = { name: 'rules', namespace: 'acme', uid: 'p', generation: 1 }
  return compilePolicies(
    [],
    [{ apiVersion: 'github.sekisho.dev/v1alpha1', kind: 'GrantPolicy', metadata, spec: { ...spec, rules } }],
  )
}

describe('a grant that a ServiceAccount requests', () => {
  test('waits for a person also where nobody requires approval of people, and says for whom', () => {
    const first = facts({})
    const decision = decide(first)
    expect(decision).toMatchObject({
      ruling: { decision: 'Waiting', rule: 'service-account-needs-approval,read-contents', approvals: { required: 1, given: 0 } },
      ready: {
        status: 'False',
        reason: 'WaitingForApproval',
        message: expect.stringContaining('sekisho grants approve read-shop'),
      },
    })
    expect(nextStatus(first, decision)).toMatchObject({ requestedRepositories: [{ id: 4001, name: 'acme/shop' }] })
  })

  test('is approved by somebody who has the access, and by as many as a rule requires', () => {
    const one = { answers: by(olivia), answer: found('admin') }
    expect(decide(facts(one))).toMatchObject({ ruling: { decision: 'Approved' }, ready: { status: 'True' } })
    const two = policies({ effect: 'RequireApproval', approvals: 2 })
    expect(decide(facts({ ...one, policies: two })).ruling).toMatchObject({ approvals: { required: 2, given: 1 } })
    const both = { answers: by(mia, olivia), answer: found('none', 'read'), policies: two }
    expect(decide(facts(both)).ruling).toMatchObject({ decision: 'Approved' })
  })

  test.each<[string, Answers, RepositoryPermission[], string]>([
    ['those who approved lack the access', by(mia), ['none'], 'do not have read access to acme/shop'],
    ['GitHub knows none of those who approved', by(mia), [], 'do not have read access to acme/shop'],
    [
      'a platform admin breaks the glass and nobody has the access',
      { ...noAnswers, breakGlass: { name: 'fire', by: 'root', reason: 'down', until: new Date('2026-06-01T12:30:00Z') } },
      [],
      'nobody has approved it',
    ],
  ])('waits while %s', (_what, answers, roles, message) => {
    const { ruling } = decide(facts({ answers, answer: found(...roles) }))
    expect(ruling).toMatchObject({ decision: 'Waiting', rule: 'approver-has-access', message: expect.stringContaining(message) })
  })

  test('while it waits for the access, policies in mode Audit are not said to approve it', () => {
    const audited = policies({ effect: 'Allow' }, 'Audit')
    expect(decide(facts({ policies: audited, answers: by(mia), answer: found('none') })).audit).toBeUndefined()
  })

  test.each<[string, Partial<Facts>, string]>([
    ['a rule denies it', { policies: policies({}) }, 'DeniedByGrantPolicy'],
    [
      'no rule allows it',
      { object: { ...fresh, spec: { ...fresh.spec, permissions: { contents: 'write' } } } },
      'DeniedByPolicy',
    ],
    ['a person denies it', { answers: { ...by(olivia), denial: { name: 'no', by: mia, reason: 'never' } } }, 'DeniedByPerson'],
    [
      'it is above the ceiling',
      { answer: { ...found('admin'), repositories: [{ id: 9, name: 'acme/other' }] } as GitHubAnswer },
      'AboveCeiling',
    ],
  ])('is denied, whoever approves, when %s', (_what, change, reason) => {
    expect(decide(facts({ answers: by(olivia), answer: found('admin'), ...change })).ready).toMatchObject({
      status: 'False',
      reason,
    })
  })

  test('is restricted by rules about any team or role, allowed nothing by them, and nothing is asked for them', () => {
    for (const requesters of [[{ type: 'Team' as const, id: 7 }], [{ type: 'Role' as const, role: 'admin' as const }]]) {
      const decided = (effect: 'Allow' | 'Deny') =>
        decide(facts({ policies: policies({ requesters, effect }), answers: by(olivia), answer: found('admin') }))
      expect(decided('Deny').ready.reason).toBe('DeniedByGrantPolicy')
      expect(decided('Allow').ruling).toMatchObject({ decision: 'Approved', rule: expect.not.stringContaining('rules/one') })
    }
  })
})

describe('approved, it', () => {
  const before = facts({ answers: by(olivia), answer: found('admin') })
  const approved: RepositoryGrant = { ...fresh, status: nextStatus(before, decide(before)) }

  test('waits again, and its tokens end, when who approved loses the access, or takes the approval back', () => {
    const lost = decide(facts({ object: approved, answers: by(olivia), answer: found('none') }))
    expect(lost).toMatchObject({ ready: { status: 'False', reason: 'WaitingForApproval' }, revoke: true })
    const withdrawn = facts({ object: approved, answer: { kind: 'not-due' } })
    expect(isDecidedUnasked(withdrawn)).toBe(true)
    expect(decide(withdrawn)).toMatchObject({ ruling: { decision: 'Waiting' }, revoke: true })
  })

  test('does not hold by another person until GitHub said what access they have', () => {
    const other = facts({ object: approved, answers: by(mia), answer: { kind: 'not-due' } })
    expect(isDecidedUnasked(other)).toBe(false)
    const unreachable: GitHubAnswer = { kind: 'unreachable', message: 'GitHub answered 502', retryAfterSeconds: undefined }
    expect(decide({ ...other, answer: unreachable })).toMatchObject({
      ready: { status: 'False', reason: 'GitHubUnreachable' },
      revoke: true,
    })
    // The same people as before hold through an outage.
    expect(decide(facts({ object: approved, answers: by(olivia), answer: unreachable })).ready).toMatchObject({ status: 'True' })
  })
})
