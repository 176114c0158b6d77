// Which pull requests are asked about, whose word counts, and when an approval has ended.
import { describe, expect, test } from 'vitest'
import { maxRows } from '../../api/apps/app-pipeline/status.ts'
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import type { PreviewApproval } from '../../api/apps/preview-approval.ts'
import type { DiscussedPullRequest } from '../../github/index.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import {
  candidatesOf,
  cooldownMilliseconds,
  maxAskedAtOnce,
  maxPeople,
  mayBeApproved,
  nextEnd,
  planQuestions,
  readyOf,
  standingOf,
} from './decide.ts'
import type { Facts, PreviewRow } from './gather.ts'
import { type Asked, withWake } from './last-asked.ts'

const now = new Date('2026-01-01T12:00:00Z')
const at = (secondsAgo: number): Date => new Date(now.getTime() - secondsAgo * 1000)
const head = 'a'.repeat(40)
const row = (number: number, state = 'WaitingForApproval', headCommit = head, updatedAt?: string): PreviewRow =>
  ({ number, state, headCommit, updatedAt }) as unknown as PreviewRow
const resync = 600_000

function facts(change: Partial<Facts> = {}, forks = 'Approved'): Facts {
  return {
    pipeline: { metadata: { name: 'shop', namespace: 'acme', uid: 'u' }, spec: { policy: { forks } } } as unknown as AppPipeline,
    now,
    rows: [row(7)],
    isListed: true,
    repository: { id: 11 },
    installation: { spec: { account: { host: 'github.test' } } } as never,
    grant: undefined,
    halts: [],
    approvals: [],
    wake: 'w1',
    asked: new Map(),
    ...change,
  }
}

const approval = (change: object = {}, secondsAgo = 1): PreviewApproval =>
  ({
    metadata: { name: 'x', uid: 'x', creationTimestamp: at(secondsAgo).toISOString() },
    spec: { pipeline: { name: 'shop', uid: 'u' }, repository: 11, number: 7, headCommit: head, ...change },
  }) as unknown as PreviewApproval

const askedAt = (secondsAgo: number, change: Partial<Asked> = {}): Asked => {
  return { at: at(secondsAgo), wake: 'w1', isDue: false, headCommit: head, updatedAt: undefined, ...change }
}

const numbers = (given: Facts): readonly number[] => planQuestions(given, resync).ask.map(({ number }) => number)

describe('GitHub is asked', () => {
  test('about what waits, once for a head and a wake, and again after the resync', () => {
    const asked = (secondsAgo: number, change: Partial<Asked> = {}) => new Map([[7, askedAt(secondsAgo, change)]])
    expect(numbers(facts())).toEqual([7])
    expect(planQuestions(facts({ asked: asked(60) }), resync)).toEqual({ ask: [], requeueAfterMilliseconds: 540_000 })
    expect(numbers(facts({ asked: asked(601) }))).toEqual([7])
    expect(numbers(facts({ asked: asked(60, { isDue: true }) }))).toEqual([7])
    expect(numbers(facts({ asked: asked(1, { headCommit: 'b'.repeat(40) }) }))).toEqual([7])
  })

  test('not again while the list says that nothing has changed since, which costs a question every six hours', () => {
    const changed = at(2000).toISOString()
    const rested = (secondsAgo: number, updatedAt: string | undefined, isDue = false, present: string | undefined = changed) =>
      facts({
        rows: [row(7, 'WaitingForApproval', head, present)],
        asked: new Map([[7, askedAt(secondsAgo, { isDue, updatedAt })]]),
      })
    expect(planQuestions(rested(700, changed), resync)).toEqual({
      ask: [],
      requeueAfterMilliseconds: cooldownMilliseconds - 700_000,
    })
    expect(numbers(rested(cooldownMilliseconds / 1000, changed))).toEqual([7])
    expect(numbers(rested(700, changed, true))).toEqual([7])
    // Something has changed; GitHub does not say when; the answer may be older than a change in the same moment.
    expect(numbers(rested(700, at(2001).toISOString()))).toEqual([7])
    expect(numbers(rested(700, undefined, false, undefined))).toEqual([7])
    expect(numbers(rested(1950, changed))).toEqual([7])
  })

  test('at most every five seconds about one pull request, however often somebody comments', () => {
    const asked = new Map([[7, askedAt(1, { isDue: true })]])
    const plan = planQuestions(facts({ asked }), resync)
    expect(plan.ask).toEqual([])
    expect(plan.requeueAfterMilliseconds).toBe(5000)
  })

  test('soon about what the list shows changed since the last question, which may have known more than the list', () => {
    const changed = (updatedAt: string | undefined, present: string | undefined) => {
      const asked = new Map([[7, askedAt(30, { updatedAt })]])
      return numbers(facts({ rows: [row(7, 'WaitingForApproval', head, present)], asked }))
    }
    const [before, after] = [at(60).toISOString(), at(20).toISOString()]
    expect(changed(before, after)).toEqual([7])
    expect(changed(undefined, after)).toEqual([7])
    expect(changed(after, before)).toEqual([])
    expect(changed(before, undefined)).toEqual([])
  })

  test('about the pull request that a webhook is about, and about all for one that names none', () => {
    const asked = (wake: string) => new Map([7, 8, 9].map(number => [number, withWake(askedAt(60), number, wake)]))
    const woken = (wake: string) => numbers(facts({ rows: [row(7), row(8), row(9)], wake, asked: asked(wake) }))
    expect(woken('t/d/pull/8')).toEqual([8])
    expect(woken('t/d/pull/10')).toEqual([])
    expect(woken('t/d/pull/unknown')).toEqual([])
    expect(woken('t/d')).toEqual([7, 8, 9])
    expect(woken('w1')).toEqual([])
  })

  test('about each pull request of several webhooks, although one replaces the other during the pause', () => {
    const wakes = ['t/1/pull/7', 't/2/pull/8', 't/3/pull/9', 't/4/pull/unknown']
    const asked = new Map(
      [7, 8, 9, 10].map(number => [number, wakes.reduce((known, wake) => withWake(known, number, wake), askedAt(3))]),
    )
    const rows = [row(7), row(8), row(9), row(10)]
    expect(planQuestions(facts({ rows, asked }), resync)).toEqual({ ask: [], requeueAfterMilliseconds: 5000 })
    const later = facts({ rows, asked, now: new Date(now.getTime() + 5000) })
    expect(numbers(later)).toEqual([7, 8, 9])
  })

  test('about a part of many, the longest unasked first; the rest follows soon', () => {
    const rows = Array.from({ length: 50 }, (_, index) => row(index + 1))
    const asked = new Map([[3, askedAt(999, { isDue: true })]])
    const plan = planQuestions(facts({ rows, asked }), resync)
    expect(plan.ask).toHaveLength(maxAskedAtOnce)
    expect(plan.ask.map(({ number }) => number)).not.toContain(3)
    expect(plan.requeueAfterMilliseconds).toBe(5000)
  })

  test.each<[string, Partial<Facts>, string?]>([
    ['that does not wait', { rows: [row(7, 'Running'), row(8, 'LeftOut')] }],
    ['that is approved', { approvals: [approval()] }],
    ['while the Installation is not ready', { installation: undefined }],
    ['while the repository is not known', { repository: undefined }],
    ['when forks never get a preview', {}, 'Never'],
  ])('not about one %s', (_what, change, forks) => {
    expect(numbers(facts(change, forks))).toEqual([])
  })

  test('again when the approval is for another commit, pull request, repository or AppPipeline', () => {
    for (const other of [{ headCommit: 'b'.repeat(40) }, { number: 8 }, { repository: 12 }, { pipeline: { uid: 'v' } }])
      expect(numbers(facts({ approvals: [approval(other)] })), JSON.stringify(other)).toEqual([7])
  })
})

const discussed = (change: Partial<DiscussedPullRequest> = {}): DiscussedPullRequest => ({
  isOpen: true,
  headCommit: head,
  headRepositoryId: 12,
  headOwnerId: 5,
  author: { id: 5, login: 'noah' },
  comments: 0,
  updatedAt: undefined,
  ...change,
})
const said = (id: number, headCommit = head) => ({ by: { id, login: `p${id}` }, headCommit })
const candidates = (
  comments: readonly ReturnType<typeof said>[],
  reviews: readonly ReturnType<typeof said>[],
  forks = 'Approved',
) => candidatesOf(facts({}, forks), { pullRequest: discussed(), comments, reviews }).map(({ by, via }) => `${via} ${by.id}`)

describe('whose word counts', () => {
  test('who spoke about the present head; who spoke last comes first, and each once', () => {
    expect(candidates([said(1), said(2, 'b'.repeat(40)), said(3), said(1)], [said(4), said(3)])).toEqual([
      'Review 3',
      'Review 4',
      'Comment 1',
    ])
  })

  test('a flood of comments hides neither reviews nor the newest comment', () => {
    const flood = Array.from({ length: 500 }, (_, index) => said(100 + index))
    const found = candidates([...flood, said(1)], [said(2)])
    expect(found.slice(0, 2)).toEqual(['Review 2', 'Comment 1'])
    expect(found).toHaveLength(1 + maxPeople)
  })

  test('nobody’s who is halted', () => {
    const target = { type: 'Person', person: { host: 'github.test', id: 3 } } as const
    const given = { pullRequest: discussed(), comments: [said(1), said(3)], reviews: [] }
    const whose = (namespace: string) =>
      candidatesOf(facts({ halts: [haltObject(target, { namespace })] }), given).map(({ by }) => by.id)
    expect([whose('sekisho-system'), whose('acme'), whose('globex')]).toEqual([[1], [1], [3, 1]])
  })

  test('the author counts without a word only where the AppPipeline trusts authors', () => {
    expect(candidates([], [])).toEqual([])
    expect(candidates([], [], 'Trusted')).toEqual(['Trusted 5'])
    expect(
      candidatesOf(facts({}, 'Trusted'), { pullRequest: discussed({ author: undefined }), comments: [], reviews: [] }),
    ).toEqual([])
  })

  test('the author of a pull request is not trusted for the fork of another person, who pushes there', () => {
    const trusted = (change: Partial<DiscussedPullRequest>) =>
      candidatesOf(facts({}, 'Trusted'), { pullRequest: discussed(change), comments: [], reviews: [] })
    expect(trusted({})).toHaveLength(1)
    expect(trusted({ headOwnerId: 6 })).toEqual([])
    expect(trusted({ headOwnerId: undefined })).toEqual([])
  })

  test('nobody’s about a pull request that is closed, not of a fork, or whose head has another form', () => {
    expect(mayBeApproved(facts(), discussed())).toBe(true)
    expect(mayBeApproved(facts(), discussed({ headRepositoryId: undefined }))).toBe(true)
    expect(mayBeApproved(facts(), discussed({ isOpen: false }))).toBe(false)
    expect(mayBeApproved(facts(), discussed({ headRepositoryId: 11 }))).toBe(false)
    expect(mayBeApproved(facts(), discussed({ headCommit: 'a'.repeat(64) }))).toBe(false)
  })
})

describe('an approval', () => {
  const kind = (change: Partial<Facts>, of = approval()) => standingOf(facts(change), of).kind
  const pushed = [row(7, 'WaitingForApproval', 'b'.repeat(40))]

  test('holds while its commit is the head', () => {
    expect(kind({})).toBe('holds')
    expect(kind({}, approval({}, 99_999))).toBe('holds')
  })

  test('is superseded by a push, and ends when the list can no longer be older than it', () => {
    expect(kind({ rows: pushed })).toBe('superseded')
    expect(kind({ rows: pushed }, approval({}, 601))).toBe('ended')
    expect(nextEnd(facts({ rows: pushed, approvals: [approval({}, 100)] }))).toBe(501_000)
  })

  test('ends with its pull request, and with the repository that was followed', () => {
    expect(kind({ rows: [] })).toBe('unknown')
    expect(kind({ rows: [] }, approval({}, 601))).toBe('ended')
    expect(kind({ repository: { id: 99 } }, approval({}, 601))).toBe('ended')
  })

  test('is kept while nobody knows what is open', () => {
    expect(kind({ rows: [], isListed: false }, approval({}, 99_999))).toBe('unknown')
    expect(kind({ rows: pushed, isListed: false }, approval({}, 99_999))).toBe('unknown')
    // So many pull requests are open that some have no row.
    const others = Array.from({ length: maxRows }, (_, index) => row(100 + index))
    expect(kind({ rows: others }, approval({}, 99_999))).toBe('unknown')
    expect(kind({ rows: others.slice(1) }, approval({}, 99_999))).toBe('ended')
    expect(kind({ rows: [], repository: undefined }, approval({}, 99_999))).toBe('unknown')
  })

  test('says so in its condition, and keeps what it says while nothing is known', () => {
    expect(readyOf(facts(), approval())).toMatchObject({ status: 'True', reason: 'Approved' })
    expect(readyOf(facts({ rows: pushed }), approval())).toMatchObject({ status: 'False', reason: 'Superseded' })
    const superseded = {
      ...approval(),
      status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Superseded' }] },
    } as never
    expect(readyOf(facts({ rows: [], isListed: false }), superseded)).toBeUndefined()
  })
})
