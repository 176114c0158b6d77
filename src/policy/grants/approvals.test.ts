// Whose answer counts for a grant: each way in which one does not, and what several say together.
import { describe, expect, test } from 'vitest'
import type { GrantApproval } from '../../api/github/grant-approval.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { haltObject } from '../testing/halt-object.ts'
import { type ApprovalFacts, answersDigest, answersOf, approversIn, standingOfApproval } from './approvals.ts'

const [erin, olivia, dave] = ['github|github.test|1003', 'github|github.test|1001', 'github|github.test|1002']

const grant = {
  metadata: { name: 'push-shop', namespace: 'acme', uid: 'grant-uid', generation: 1 },
  spec: { requestedBy: dave },
} as unknown as RepositoryGrant
const facts: ApprovalFacts = { grant, host: 'github.test', halts: [], now: new Date('2026-01-01T00:30:00Z') }

function answer(by: string, change: Partial<GrantApproval['spec']> = {}, metadata: object = {}): GrantApproval {
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'GrantApproval',
    metadata: { name: `of-${by}`, namespace: 'acme', uid: by, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: {
      grant: { name: 'push-shop', uid: 'grant-uid' },
      answer: 'Approve',
      reason: 'the release needs it',
      lifetimeSeconds: 3600,
      requestedBy: by,
      ...change,
    },
  }
}

describe('an answer', () => {
  test('that somebody gives after coming back counts, whatever ended before', () => {
    const left = { ...facts, grant: { ...grant, status: { endedApprovals: [{ uid: 'of-before', by: olivia }] } } }
    expect(standingOfApproval(answer(olivia), left, [])).toEqual({ kind: 'counts' })
  })

  test('of another admin counts', () => {
    expect(standingOfApproval(answer(olivia), facts, [])).toEqual({ kind: 'counts' })
  })

  const person = (id: number) => ({ type: 'Person', person: { host: 'github.test', id } }) as const
  test.each<[string, GrantApproval, Partial<ApprovalFacts>, string]>([
    ['of the requester', answer(dave), {}, 'over'],
    [
      'of somebody who has left the organization since',
      answer(olivia),
      { grant: { ...grant, status: { endedApprovals: [{ uid: olivia, by: olivia }] } } },
      'over',
    ],
    ['about a grant that is gone', answer(olivia), { grant: undefined }, 'over'],
    [
      'about a grant that was deleted and created again',
      answer(olivia),
      { grant: { ...grant, metadata: { ...grant.metadata, uid: 'another' } } },
      'over',
    ],
    ['about another grant', answer(olivia, { grant: { name: 'other', uid: 'grant-uid' } }), {}, 'over'],
    ['without a uid, about a grant without one', answer(olivia, { grant: { name: 'push-shop', uid: '' } }), {}, 'over'],
    ['of which the time is over', answer(olivia), { now: new Date('2026-01-01T01:00:00Z') }, 'over'],
    ['without a time', answer(olivia, {}, { creationTimestamp: undefined }), {}, 'over'],
    ['of a ServiceAccount', answer('system:serviceaccount:acme:bot'), {}, 'NotAPerson'],
    ['of a person of another host', answer('github|other.test|1001'), {}, 'NotAPerson'],
    ['of a name that only looks like a person', answer('github|github.test|01001'), {}, 'NotAPerson'],
    ['of a person who is halted', answer(olivia), { halts: [haltObject(person(1001))] }, 'PersonHalted'],
    [
      'of the requester, when a certificate requested it',
      answer('admin'),
      { grant: { ...grant, spec: { ...grant.spec, requestedBy: 'admin' } }, host: undefined },
      'NotAPerson',
    ],
  ])('%s does not', (_what, approval, change, reason) => {
    const given = { ...facts, ...change }
    expect(standingOfApproval(approval, given, [])).toMatchObject(
      reason === 'over' ? { kind: 'over' } : { kind: 'refused', reason },
    )
    expect(answersOf([approval], given)).toMatchObject({ approvals: [], denial: undefined })
  })

  test('counts again when the Halt of the person is lifted, and whatever else is halted', () => {
    const lifted = haltObject(person(1001), { spec: { lifted: { by: erin, reason: 'a mistake' } } })
    const everything = haltObject({ type: 'Everything' })
    expect(standingOfApproval(answer(olivia), { ...facts, halts: [lifted, everything] }, [])).toEqual({ kind: 'counts' })
  })
})

describe('break-glass', () => {
  const opened = (by: string, change: Partial<GrantApproval['spec']> = {}, metadata: object = {}) =>
    answer(by, { breakGlass: true, ...change }, metadata)

  test('counts for who has no account on GitHub, beside the approvals of people and not as one of them', () => {
    const said = answersOf([opened('kubernetes-admin'), answer(olivia)], facts)
    expect(said.breakGlass).toMatchObject({ by: 'kubernetes-admin', name: 'of-kubernetes-admin' })
    expect(said.breakGlass?.until.toISOString()).toBe('2026-01-01T01:00:00.000Z')
    expect(said.approvals.map(({ by }) => by)).toEqual([olivia])
    expect(answersOf([opened(olivia)], facts).approvals).toEqual([])
  })

  test('does not take the place of what the same person answered before', () => {
    const later = { creationTimestamp: '2026-01-01T00:00:30Z' }
    const said = answersOf([answer(olivia, { answer: 'Deny' }), opened(olivia, {}, { ...later, name: 'fire' })], facts)
    expect([said.denial?.by, said.breakGlass?.by]).toEqual([olivia, olivia])
  })

  test('of several is the one that stands longest, and what ends first is looked at', () => {
    const said = answersOf([opened('a', { lifetimeSeconds: 2400 }), opened('b')], facts)
    expect(said.breakGlass?.by).toBe('b')
    expect(said.until?.toISOString()).toBe('2026-01-01T00:40:00.000Z')
  })

  test.each<[string, GrantApproval, Partial<ApprovalFacts>]>([
    ['of the requester', opened(dave), {}],
    [
      'of the requester, who has a certificate',
      opened('kubernetes-admin'),
      { grant: { ...grant, spec: { ...grant.spec, requestedBy: 'kubernetes-admin' } } },
    ],
    ['of which the hour is over', opened('kubernetes-admin'), { now: new Date('2026-01-01T01:00:00Z') }],
    ['of a grant that was created again', opened('kubernetes-admin', { grant: { name: 'push-shop', uid: 'before' } }), {}],
  ])('%s is over', (_what, approval, change) => {
    const given = { ...facts, ...change }
    expect(standingOfApproval(approval, given, [])).toMatchObject({ kind: 'over' })
    expect(answersOf([approval], given)).toMatchObject({ breakGlass: undefined, approvals: [] })
  })

  test('does not count while its person is halted, and changes the digest by its name', () => {
    const halts = [haltObject({ type: 'Person', person: { host: 'github.test', id: 1001 } })]
    expect(answersOf([opened(olivia)], { ...facts, halts }).breakGlass).toBeUndefined()
    const digest = (name: string) => answersDigest(answersOf([opened('root', {}, { name })], facts))
    expect(digest('first')).toBe('BreakGlass first of root')
    expect(digest('second')).not.toBe(digest('first'))
  })
})

describe('the answers', () => {
  test('name each person once, however often they approve', () => {
    const twice = [answer(olivia), answer(olivia, {}, { name: 'again', uid: 'again' }), answer(erin)]
    expect(answersOf(twice, facts).approvals.map(({ by }) => by)).toEqual([olivia, erin])
    expect(answersOf(twice.toReversed(), facts)).toEqual(answersOf(twice, facts))
  })

  test('deny as soon as one does, and not by what is being taken back', () => {
    const denial = answer(erin, { answer: 'Deny', reason: 'use the pipeline' })
    const said = answersOf([answer(olivia), denial], facts)
    expect(said.denial).toEqual({ name: `of-${erin}`, by: erin, reason: 'use the pipeline' })
    const back = { ...denial, metadata: { ...denial.metadata, deletionTimestamp: '2026-01-01T00:20:00Z' } }
    expect(answersOf([answer(olivia), back], facts).denial).toBeUndefined()
  })

  test('of one person are the newest of them', () => {
    const later = (change: Partial<GrantApproval['spec']>) =>
      answer(olivia, change, { name: 'later', uid: 'later', creationTimestamp: '2026-01-01T00:10:00Z' })
    const [denied, approved] = [answer(olivia, { answer: 'Deny' }), later({})]
    expect(answersOf([denied, approved], facts)).toMatchObject({ approvals: [{ by: olivia }], denial: undefined })
    expect(standingOfApproval(denied, facts, [approved])).toMatchObject({ kind: 'over' })
    expect(answersOf([answer(olivia), later({ answer: 'Deny' })], facts)).toMatchObject({ approvals: [], denial: { by: olivia } })
    // Of the same second, the one that takes away; and never that of somebody else.
    expect(answersOf([answer(olivia), answer(olivia, { answer: 'Deny' })], facts).denial).toBeDefined()
    expect(answersOf([answer(erin, { answer: 'Deny' }), approved], facts).denial).toBeDefined()
    const burst = ['a', 'b', 'c'].map(uid => answer(olivia, { answer: 'Deny' }, { name: uid, uid }))
    expect(burst.map(one => standingOfApproval(one, facts, burst).kind)).toEqual(['over', 'over', 'counts'])
  })

  test('that deny are not taken out by a Halt, which the requester could make', () => {
    const halts = [haltObject({ type: 'Person', person: { host: 'github.test', id: 1001 } })]
    expect(answersOf([answer(olivia, { answer: 'Deny' })], { ...facts, halts }).denial).toBeDefined()
  })

  test('an answer of a later version denies', () => {
    expect(answersOf([answer(olivia, { answer: 'Abstain' as 'Deny' })], facts).denial).toBeDefined()
  })

  test('change with the first approval that ends; a denial does not end', () => {
    const denial = answer('github|github.test|9', { answer: 'Deny', lifetimeSeconds: 60 })
    const { until, denial: found } = answersOf([answer(olivia), answer(erin, { lifetimeSeconds: 2400 }), denial], facts)
    expect(found).toBeDefined()
    expect(until?.toISOString()).toBe('2026-01-01T00:40:00.000Z')
  })

  test('have a digest that changes with who answered what', () => {
    const digests = [[], [answer(olivia)], [answer(erin)], [answer(erin, { answer: 'Deny' })]].map(all =>
      answersDigest(answersOf(all, facts)),
    )
    expect(new Set(digests).size).toBe(4)
    expect(digests[0]).toBeUndefined()
  })

  test('have another digest with one more answer, however many there are', () => {
    const many = Array.from({ length: 500 }, (_, id) => answer(`github|github.test|${5000 + id}`))
    const denial = answer('github|github.test|9999', { answer: 'Deny' })
    const digests = [many, many.slice(1), many.slice(0, -1), [...many, denial]].map(all => answersDigest(answersOf(all, facts)))
    expect(new Set(digests).size).toBe(4)
    for (const digest of digests) expect(digest?.length).toBeLessThanOrEqual(1000)
  })
})

test('a digest names who approved, and nobody else', () => {
  const given = [answer(olivia), answer(erin, { answer: 'Deny' }), answer('root', { breakGlass: true })]
  expect(approversIn(answersDigest(answersOf(given, facts)))).toEqual([olivia])
  expect(approversIn(undefined)).toEqual([])
})
