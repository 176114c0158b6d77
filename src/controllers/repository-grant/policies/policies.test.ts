// Policies in the decision on a grant: when GitHub need not be asked, what a changed policy does to what was approved, and what
// is said while something is not known.
import { describe, expect, test } from 'vitest'
import type { ClusterGrantPolicy, GrantPolicy } from '../../../api/github/grant-policy.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { type Answers, noAnswers } from '../../../policy/grants/approvals.ts'
import { compilePolicies, noGrantPolicies } from '../../../policy/grants/grant-policies.ts'
import { grantObject, installationObject, ready } from '../../../services/token-desk/testing/desk-objects.ts'
import { decide } from '../decide.ts'
import type { Facts, GitHubAnswer } from '../gather.ts'
import { announceBreakGlass } from '../records/announce-break-glass.ts'
import { decisionRecord } from '../records/record-decision.ts'
import { isNewRuling, nextStatus } from '../status.ts'
import { isDecidedUnasked, isDeniedUnasked, neededMemberships } from './known-of-grant.ts'
import { createKnownPolicies } from './known-policies.ts'

type Rule = Partial<GrantPolicy['spec']['rules'][number]>

function policy(rule: Rule, mode: 'Enforce' | 'Audit' = 'Enforce', generation = 1): GrantPolicy {
  const rules = [{ name: 'one', effect: 'Deny' as const, permissions: { contents: 'read' as const }, ...rule }]
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'GrantPolicy',
    metadata: { name: 'rules', namespace: 'acme', uid: 'p', generation },
    spec: { mode, builtInRules: 'Keep', rules },
  }
}

const of = (...policies: readonly GrantPolicy[]) => compilePolicies([], policies)
const conditions = [{ ...ready(), type: 'Approved', reason: 'Approved' }, ready()]
const approved = grantObject({ status: { conditions } })
const { status: _status, ...undecided } = grantObject()
const fresh: RepositoryGrant = undecided
const found: GitHubAnswer = {
  kind: 'found',
  repositories: [{ id: 4001, name: 'acme/shop' }],
  missing: [],
  archived: [],
  visibility: new Map([[4001, 'private']]),
  requester: { kind: 'known', login: 'dave', permissions: new Map([[4001, 'write']]) },
}

function facts(change: Partial<Facts>): Facts {
  return {
    object: fresh,
    installation: installationObject,
    installationReady: true,
    answer: { kind: 'not-due' },
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

describe('before GitHub is asked', () => {
  test('what is denied in any case is denied, and again by the same', () => {
    const policies = of(policy({ repositories: ['acme/*'] }))
    expect(isDeniedUnasked(facts({ policies }))).toBe(true)
    const decision = decide(facts({ policies }))
    expect(decision).toMatchObject({
      checked: false,
      ruling: { decision: 'Denied', rule: 'GrantPolicy/rules/one', reason: 'DeniedByGrantPolicy' },
    })
    const status = nextStatus(facts({ policies }), decision)
    const again = facts({ policies, object: { ...fresh, status } })
    expect(nextStatus(again, decide(again))).toEqual(status)
  })

  test.each<[string, Rule]>([
    ['another repository', { repositories: ['acme/other'] }],
    ['a team', { requesters: [{ type: 'Team', id: 7 }] }],
    ['a visibility', { visibility: ['private'] }],
    ['an id', { repositoryIds: [4001] }],
  ])('a denial about %s is none yet', (_what, rule) => {
    const policies = of(policy(rule))
    expect(isDeniedUnasked(facts({ policies }))).toBe(false)
    expect(decide(facts({ policies })).ruling).toBeUndefined()
  })

  test('nothing is denied without policies', () => {
    expect(isDeniedUnasked(facts({}))).toBe(false)
  })
})

describe('the life of tokens', () => {
  const life = (tokenLifetimeSeconds: number, change: Rule = {}) =>
    policy({ effect: 'Allow', subjects: [{ kind: 'ServiceAccount' }], tokenLifetimeSeconds, ...change })

  test('is in the status and in the message of an approved grant, for the subjects that a rule means', () => {
    const one = facts({ answer: found, policies: of(life(120)) })
    const decision = decide(one)
    const status = nextStatus(one, decision)
    expect(status.tokenLifetimes).toEqual([{ kind: 'ServiceAccount', name: 'runner', seconds: 120 }])
    expect(decision.approved.message).toContain('Tokens live by policy: ServiceAccount runner: 120 s.')
    // It stays while GitHub does not answer, and goes with the policy.
    const answer = { kind: 'unreachable', message: '502', retryAfterSeconds: undefined } as const
    const unanswered = facts({ object: { ...fresh, status }, answer, policies: one.policies })
    expect(nextStatus(unanswered, decide(unanswered)).tokenLifetimes).toEqual(status.tokenLifetimes)
    const without = facts({ object: { ...fresh, status }, answer: found })
    expect(nextStatus(without, decide(without)).tokenLifetimes).toBeUndefined()
  })

  test('is not in the status of a grant that is denied', () => {
    const denying = of(policy({}), { ...life(120), metadata: { name: 'life', namespace: 'acme', uid: 'q', generation: 1 } })
    const one = facts({ answer: found, policies: denying })
    expect(nextStatus(one, decide(one))).toMatchObject({ decision: 'Denied' })
    expect(nextStatus(one, decide(one)).tokenLifetimes).toBeUndefined()
  })

  test('of a rule about something that only GitHub knows is not guessed', () => {
    const policies = of(life(120, { requesters: [{ type: 'Team', id: 7 }] }))
    expect(neededMemberships(facts({ answer: found, policies }))).toMatchObject({ teams: [7] })
    expect(decide(facts({ answer: found, policies })).ruling).toMatchObject({
      decision: 'Denied',
      rule: 'policy-facts-are-known',
    })
    const known = decide(facts({ answer: found, policies, memberships: new Map([['team:7', false]]) }))
    expect(known.ruling).toMatchObject({ decision: 'Approved', lifetimes: [] })
  })

  test('in mode Audit is said and changes nothing', () => {
    const one = facts({ answer: found, policies: of({ ...life(120), spec: { ...life(120).spec, mode: 'Audit' } }) })
    expect(nextStatus(one, decide(one))).toMatchObject({
      decision: 'Approved',
      audit: { decision: 'Approved', message: expect.stringContaining('ServiceAccount runner: 120 s') },
    })
    expect(nextStatus(one, decide(one)).tokenLifetimes).toBeUndefined()
  })
})

describe('a changed policy', () => {
  test('ends what was approved at once when it is certain, also while GitHub does not answer', () => {
    const policies = of(policy({ repositories: ['acme/shop'] }))
    for (const answer of [{ kind: 'not-due' }, { kind: 'unreachable', message: '502', retryAfterSeconds: undefined }] as const) {
      const one = facts({ object: approved, policies, answer })
      expect(isDecidedUnasked(one)).toBe(true)
      expect(decide(one)).toMatchObject({
        revoke: true,
        ruling: { decision: 'Denied' },
        ready: { reason: 'DeniedByGrantPolicy' },
      })
    }
  })

  test('leaves approved what it says nothing about, and the status knows it', () => {
    const one = facts({ object: approved, policies: of(policy({ repositories: ['acme/other'] })) })
    const decision = decide(one)
    expect(decision).toMatchObject({ revoke: false, ruling: { decision: 'Approved' } })
    expect(nextStatus(one, decision).observedPolicies).toBe(one.policies.digest)
  })

  test('that needs GitHub, which does not answer, leaves nothing ready', () => {
    const answer = { kind: 'unreachable', message: 'GitHub answered 502', retryAfterSeconds: undefined } as const
    const one = facts({ object: approved, policies: of(policy({ requesters: [{ type: 'Team', id: 7 }] })), answer })
    expect(isDecidedUnasked(one)).toBe(false)
    const decision = decide(one)
    expect(decision).toMatchObject({ revoke: true, ready: { status: 'False', reason: 'GitHubUnreachable' } })
    expect(nextStatus(one, decision).observedPolicies).toBeUndefined()
  })

  test('approves nothing that was denied before GitHub is asked', () => {
    const object = grantObject({ status: { decision: 'Denied', conditions } })
    const one = facts({ object, policies: of(policy({ repositories: ['acme/other'] })) })
    expect(decide(one).ruling?.decision).toBe('Denied')
  })

  test('that was deleted leaves only what the built-in rules allow', () => {
    const before = { ...approved.status, observedPolicies: 'digest' }
    const writing = { ...approved, spec: { ...approved.spec, permissions: { contents: 'write' as const } }, status: before }
    const decision = decide(facts({ object: writing as RepositoryGrant }))
    expect(decision).toMatchObject({ revoke: true, ruling: { decision: 'Denied', reason: 'DeniedByPolicy' } })
  })
})

describe('with an answer of GitHub', () => {
  const ofTeam = of(policy({ requesters: [{ type: 'Team', id: 7 }] }))

  test('only what a rule names is asked', () => {
    expect(neededMemberships(facts({ policies: ofTeam, answer: found }))).toMatchObject({ teams: [7], roles: [] })
    expect(neededMemberships(facts({ policies: of(policy({ visibility: ['public'] })), answer: found }))).toBeUndefined()
    expect(neededMemberships(facts({ answer: found }))).toBeUndefined()
  })

  test.each([
    [true, 'Denied'],
    [false, 'Approved'],
  ])('a member of the team (%s) is %s', (isMember, decision) => {
    const memberships = new Map([['team:7', isMember]])
    expect(decide(facts({ policies: ofTeam, answer: found, memberships })).ruling).toMatchObject({ decision })
  })

  test('what is still unknown is denied', () => {
    const { visibility: _, ...rest } = found as Extract<GitHubAnswer, { kind: 'found' }>
    const decision = decide(facts({ policies: of(policy({ visibility: ['public'] })), answer: rest }))
    expect(decision.ruling).toMatchObject({ decision: 'Denied', rule: 'policy-facts-are-known' })
  })

  test('a policy in mode Audit says what it would do, and only that', () => {
    const policies = of(policy({}, 'Audit'))
    const one = facts({ policies, answer: found })
    const decision = decide(one)
    expect(decision.ruling?.decision).toBe('Approved')
    expect(nextStatus(one, decision).audit).toMatchObject({ decision: 'Denied', rule: 'GrantPolicy/rules/one' })
    // What a check refuses stays refused.
    const missing = facts({ policies, answer: { kind: 'missing', names: ['acme/shop'] } })
    expect(decide(missing).audit).toBeUndefined()
  })
})

test('policies are compiled once for each state of them', () => {
  let stored: readonly GrantPolicy[] = [policy({})]
  const policiesOf = createKnownPolicies({ policies: { list: () => stored }, clusterPolicies: { list: () => [] } })
  const first = policiesOf('acme')
  expect(policiesOf('acme')).toBe(first)
  stored = [policy({ effect: 'Allow' }, 'Enforce', 2)]
  expect(policiesOf('acme').digest).not.toBe(first.digest)
  stored = []
  expect(policiesOf('acme')).toBe(noGrantPolicies)
})

describe('a policy that requires approval', () => {
  const policies = of(policy({ effect: 'RequireApproval', approvals: 2 }))
  const by = (...people: readonly string[]): Answers => ({
    ...noAnswers,
    approvals: people.map(one => ({ by: one, reason: 'it is fine' })),
  })
  const denied: Answers = { ...noAnswers, denial: { name: 'no', by: 'erin', reason: 'use the pipeline' } }

  test('waits for people enough, says how many are missing, and records who they were', () => {
    const asked = { policies, answer: found }
    expect(decide(facts(asked))).toMatchObject({
      revoke: true,
      ruling: { decision: 'Waiting', reason: 'WaitingForApproval' },
      ready: { status: 'False', message: expect.stringContaining('2 admins of the tenant who did not request it') },
    })
    const one = decide(facts({ ...asked, answers: by('erin') }))
    expect(one.ready.message).toContain('1 of 2 have: erin')
    const both = facts({ ...asked, answers: by('erin', 'olivia') })
    const decision = decide(both)
    expect(decision).toMatchObject({ ruling: { decision: 'Approved' }, ready: { status: 'True' } })
    expect(decision.ready.message).toContain('Approved by erin (it is fine), olivia (it is fine)')
    expect(nextStatus(both, decision).observedAnswers).toBe('erin, olivia')
    expect(decisionRecord(both, decision)).toMatchObject({ outcome: 'allowed', details: { approvedBy: ['erin', 'olivia'] } })
  })

  test.each([
    ['read', 'Approved'],
    ['write', 'Denied'],
  ] as const)('that is deleted while a grant waits leaves contents: %s to the other rules: %s', (level, expected) => {
    const cap = policy({ effect: 'Allow', permissions: { contents: 'write' } }) as unknown as ClusterGrantPolicy
    const own = policy({ effect: 'RequireApproval', approvals: 2, permissions: { contents: level } })
    const object: RepositoryGrant = { ...fresh, spec: { ...fresh.spec, permissions: { contents: level } } }
    const asked = facts({ object, policies: compilePolicies([cap], [own]), answer: found })
    expect(decide(asked).ruling?.decision).toBe('Waiting')
    const waiting = { ...object, status: nextStatus(asked, decide(asked)) }
    const after = facts({ object: waiting, policies: compilePolicies([cap], []), answer: found, answers: by('erin') })
    expect(decide(after).ruling?.decision).toBe(expected)
  })

  test('asks GitHub before people are asked, and again about what a check denied', () => {
    expect(isDeniedUnasked(facts({ policies }))).toBe(false)
    const status = { ...approved.status, decision: 'Denied' as const, rule: 'requester-has-access' }
    const refused = facts({ object: { ...approved, status } as RepositoryGrant, policies })
    expect(isDecidedUnasked(refused)).toBe(false)
    expect(decide(refused).ruling?.decision).toBe('Denied')
  })

  test('another one who approves is a new record, and who denies or takes back what is approved ends it without GitHub', () => {
    const status = { ...approved.status, checkedAt: '2026-06-01T11:00:00Z', observedPolicies: policies.digest }
    const object = { ...approved, status: { ...status, observedAnswers: 'erin, olivia' } } as RepositoryGrant
    const of = (answers: Answers) => facts({ object, policies, answers })
    const recorded = (answers: Answers) => isNewRuling(of(answers), decide(of(answers)))
    const rule = decide(of(by('erin', 'bob'))).ruling?.rule
    const same = { ...of(by('erin', 'bob')), object: { ...object, status: { ...object.status, rule } } as RepositoryGrant }
    expect(isNewRuling(same, decide(same))).toBe(true)
    expect([by('erin'), denied].map(isAnswer => isDecidedUnasked(of(isAnswer)))).toEqual([true, true])
    expect([by('erin'), denied].map(recorded)).toEqual([true, true])
  })

  test('ends what was approved when an answer is taken back, also while GitHub does not answer', () => {
    const answer = { kind: 'unreachable', message: '502', retryAfterSeconds: undefined } as const
    const status = {
      ...approved.status,
      checkedAt: '2026-06-01T11:00:00Z',
      observedPolicies: policies.digest,
      observedAnswers: 'erin, olivia',
    }
    const object = { ...approved, status } as RepositoryGrant
    expect(decide(facts({ object, policies, answer, answers: by('erin', 'olivia') })).ready.status).toBe('True')
    const left = facts({ object, policies, answer, answers: by('erin') })
    const decision = decide(left)
    expect(decision).toMatchObject({ revoke: true, ruling: { decision: 'Waiting' }, ready: { status: 'False' } })
    expect(nextStatus(left, decision).observedAnswers).toBe('erin')
  })

  test('approves nothing while GitHub does not answer', () => {
    const answer = { kind: 'unreachable', message: '502', retryAfterSeconds: undefined } as const
    const waiting = decide(facts({ policies, answer: found }))
    const object = { ...fresh, status: nextStatus(facts({ policies, answer: found }), waiting) }
    const given = facts({ object, policies, answer, answers: by('erin', 'olivia') })
    expect(decide(given).ruling?.decision).toBe('Waiting')
    expect(nextStatus(given, decide(given)).observedAnswers).toBeUndefined()
  })

  test('asks people for nothing before GitHub said which repositories the names mean', () => {
    const answer = { kind: 'unreachable', message: '502', retryAfterSeconds: undefined } as const
    const given = facts({ object: fresh, policies, answer, answers: by('erin', 'olivia') })
    expect(decide(given)).toMatchObject({ ruling: undefined, ready: { status: 'Unknown' } })
    expect(nextStatus(given, decide(given)).decision).toBeUndefined()
  })

  test('a person who denies is asked before any policy, and GitHub is not asked at all', () => {
    for (const rules of [policies, noGrantPolicies]) {
      const one = facts({ policies: rules, answers: denied })
      expect(isDeniedUnasked(one)).toBe(true)
      expect(decide(one).ruling).toMatchObject({ decision: 'Denied', reason: 'DeniedByPerson', rule: 'GrantApproval/no' })
      expect(decide(facts({ object: approved, policies: rules, answers: denied }))).toMatchObject({ revoke: true })
    }
  })

  test('break-glass stands for everybody who is missing, is named by the rule and the record, and ends as approvals do', () => {
    const until = new Date('2026-06-01T12:30:00Z')
    const opened: Answers = { ...noAnswers, breakGlass: { name: 'fire', by: 'root', reason: 'the site is down', until }, until }
    const given = facts({ policies, answer: found, answers: opened })
    const decision = decide(given)
    expect(decision.ruling).toMatchObject({
      decision: 'Approved',
      rule: 'GrantApproval/fire,GrantPolicy/rules/one,read-contents',
    })
    expect(decision.ready.message).toContain('Approved by break-glass of root until 2026-06-01T12:30:00.000Z (the site is down)')
    expect(decisionRecord(given, decision).details).toMatchObject({
      breakGlass: { by: 'root', reason: 'the site is down', until: '2026-06-01T12:30:00.000Z' },
    })
    const heard: unknown[] = []
    const watchers = {
      events: { record: (_: unknown, { reason }: { reason: string }) => void heard.push(reason) },
      countBreakGlass: () => void heard.push('counted'),
    }
    announceBreakGlass(watchers, given, decision)
    expect(heard).toEqual(['counted', 'BreakGlass'])
    // Who approves meanwhile is another decision, in which nobody broke anything.
    const both = facts({ policies, answer: found, answers: { ...by('erin', 'olivia'), breakGlass: opened.breakGlass } })
    expect(decide(both).ruling?.rule).not.toContain('fire')
    expect(decisionRecord(both, decide(both)).details).not.toHaveProperty('breakGlass')
    announceBreakGlass(watchers, both, decide(both))
    expect(heard).toHaveLength(2)
    const status = nextStatus(given, decision)
    expect(status.approvedUntil).toBe('2026-06-01T12:30:00.000Z')
    const after = facts({ object: { ...fresh, status }, policies, answers: noAnswers })
    expect(decide(after)).toMatchObject({ revoke: true, ruling: { decision: 'Waiting' } })
    expect(nextStatus(after, decide(after))).not.toHaveProperty('approvedUntil')
  })

  test('break-glass lifts neither a rule that denies, nor a person who does, nor what the requester lacks', () => {
    const breakGlass = { name: 'fire', by: 'root', reason: 'the site is down', until: new Date('2026-06-01T12:30:00Z') }
    const opened: Answers = { ...noAnswers, breakGlass }
    const lacking: GitHubAnswer = { ...found, requester: { kind: 'known', login: 'dave', permissions: new Map() } }
    const denying = of(policy({ effect: 'RequireApproval' }), policy({ effect: 'Deny' }))
    expect(decide(facts({ policies: denying, answer: found, answers: opened })).ready.reason).toBe('DeniedByGrantPolicy')
    expect(decide(facts({ policies, answer: found, answers: { ...denied, breakGlass } })).ready.reason).toBe('DeniedByPerson')
    expect(decide(facts({ policies, answer: lacking, answers: opened })).ready.reason).toBe('RequesterLacksAccess')
  })

  test('what people are asked about is fixed when the grant first waits: another repository of the name is never approved', () => {
    const first = facts({ policies, answer: found })
    const status = nextStatus(first, decide(first))
    expect(status).toMatchObject({
      approvals: { required: 2, given: 0 },
      requestedRepositories: [{ id: 4001, name: 'acme/shop' }],
    })
    const replaced: GitHubAnswer = { ...found, repositories: [{ id: 4002, name: 'acme/shop' }] }
    const again = facts({ object: { ...fresh, status }, policies, answer: replaced, answers: by('erin', 'olivia') })
    const decision = decide(again)
    expect(decision.ready).toMatchObject({ status: 'False', reason: 'RepositoryReplaced' })
    const after = nextStatus(again, decision)
    expect(after.requestedRepositories).toEqual([{ id: 4001, name: 'acme/shop' }])
    expect(after.repositories).toBeUndefined()
    expect(after.approvals).toBeUndefined()
  })

  test('in mode Audit says that the grant would wait', () => {
    const audited = of(policy({ effect: 'RequireApproval' }, 'Audit'))
    const decision = decide(facts({ policies: audited, answer: found }))
    expect(decision).toMatchObject({ ruling: { decision: 'Approved' }, audit: { decision: 'Waiting' } })
  })
})
