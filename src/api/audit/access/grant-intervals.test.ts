// The state at a time follows from the log alone: random histories of grants against what was so.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type GrantInterval, grantIntervals, grantUids, isWithin } from './grant-intervals.ts'
import type { LogEntry } from './log-entry.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

/** What can happen to a grant; `left` and `back` are about one of its two repositories. */
const kinds = ['approved', 'denied', 'ended', 'suspended', 'resumed', 'left', 'back', 'other'] as const
type Event = { readonly grant: number; readonly kind: (typeof kinds)[number] }

const actionOf: Readonly<Record<Event['kind'], string>> = {
  approved: 'grant.decided',
  denied: 'grant.decided',
  ended: 'grant.ended',
  suspended: 'grant.access-changed',
  resumed: 'grant.access-changed',
  left: 'grant.repository-changed',
  back: 'grant.repository-changed',
  other: 'token.delivered',
}
const refused: ReadonlySet<Event['kind']> = new Set(['denied', 'suspended', 'left'])
const causes: Partial<Readonly<Record<Event['kind'], string>>> = { suspended: 'InstallationNotReady', left: 'RepositoryNotFound' }
const names: Readonly<Record<number, string>> = { 4001: 'acme/shop', 4002: 'acme/site' }

/** `ids`: what the record says that the grant reaches, or the one repository. */
function entryOf({ grant, kind }: Event, minute: number, ids: readonly number[] = [4001, 4002]): LogEntry {
  return {
    sequence: minute + 1,
    at: at(minute),
    action: actionOf[kind],
    actor: 'github|github.com|42',
    object: `RepositoryGrant/acme/g${grant}`,
    outcome: refused.has(kind) ? 'denied' : 'allowed',
    reason: 'r',
    details: {
      grantUid: `u${grant}`,
      person: 'github|github.com|42',
      login: 'dave',
      rule: 'read-contents',
      ...(actionOf[kind] === 'grant.decided' ? { check: kind === 'denied' ? 'RequesterLacksAccess' : 'Approved' } : {}),
      ...(causes[kind] === undefined ? {} : { cause: causes[kind] }),
      ...(kind === 'ended' ? { cause: 'Deleted', doer: 'github|github.com|7', doerLogin: 'olivia' } : {}),
      subjects: [{ kind: 'ServiceAccount', name: 'ci' }],
      permissions: { contents: 'read' },
      repositoryIds: kind === 'denied' ? [] : [...ids],
      repositories: ids.map(id => ({ id, fullName: names[id] ?? '' })),
    },
    previousHash: '',
    hash: 'h',
  }
}

type State = { readonly approved: boolean; readonly suspended: boolean; readonly left: boolean }

/** How the cluster and its log are after an event; undefined when the event does not happen in that state. */
function step(state: State, kind: Event['kind']): State | undefined {
  if (kind === 'approved') return state.approved ? undefined : { approved: true, suspended: false, left: state.left }
  if (kind === 'other') return state
  if (!state.approved) return undefined
  if (kind === 'denied' || kind === 'ended') return { ...state, approved: false, suspended: false }
  if (kind === 'suspended' || kind === 'resumed')
    return state.suspended === (kind === 'suspended') ? undefined : { ...state, suspended: kind === 'suspended' }
  return state.left === (kind === 'left') ? undefined : { ...state, left: kind === 'left' }
}

const reachOf = ({ left }: State): readonly number[] => (left ? [4001] : [4001, 4002])

/** The records of what happened, and what each grant reached after each minute. */
function historyOf(events: readonly Event[]) {
  const states = new Map<number, State>()
  const entries: LogEntry[] = []
  const reached = events.map((event, minute) => {
    const before = states.get(event.grant) ?? { approved: false, suspended: false, left: false }
    const next = step(before, event.kind)
    if (next !== undefined) {
      states.set(event.grant, next)
      const one = event.kind === 'left' || event.kind === 'back'
      entries.push(entryOf(event, minute, one ? [4002] : reachOf(next)))
    }
    const gives = [...states].filter(([, state]) => state.approved && !state.suspended)
    return new Set(gives.flatMap(([grant, state]) => reachOf(state).map(id => `u${grant} ${id}`)))
  })
  return { entries, reached }
}

const moment = (minute: number) => ({ since: new Date(at(minute)), until: new Date(at(minute)) })

describe('who could', () => {
  const event = fc.record({ grant: fc.integer({ min: 1, max: 3 }), kind: fc.constantFrom(...kinds) })

  test('reach what at any time is who was approved, not ended, and not without access then', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 60 }), fc.nat({ max: 59 }), (events, at) => {
        const minute = Math.min(at, events.length - 1)
        const { entries, reached } = historyOf(events)
        const could = grantIntervals(entries).filter(one => isWithin(one, moment(minute)))
        expect(new Set(could.flatMap(({ uid, repositoryIds }) => repositoryIds.map(id => `${uid} ${id}`)))).toEqual(
          reached[minute],
        )
      }),
    )
  })

  test('the time in which a grant gave no access says why, and so does a repository that it lost', () => {
    const history: readonly Event[] = (['approved', 'suspended', 'resumed', 'left'] as const).map(kind => ({ grant: 1, kind }))
    const entries = history.map((one, minute) => entryOf(one, minute, one.kind === 'left' ? [4002] : undefined))
    expect(grantIntervals(entries)).toMatchObject([
      { from: at(0), until: at(1), end: { cause: 'InstallationNotReady' }, repositories: ['acme/shop', 'acme/site'] },
      { from: at(2), until: at(3), end: { cause: 'RepositoryNotFound' }, repositoryIds: [4001, 4002] },
      { from: at(3), until: undefined, repositoryIds: [4001], repositories: ['acme/shop'] },
    ])
  })

  test('an interval says who, by which rule, and who ended it', () => {
    const history: readonly Event[] = [
      { grant: 1, kind: 'approved' },
      { grant: 1, kind: 'ended' },
      { grant: 2, kind: 'approved' },
      { grant: 2, kind: 'denied' },
    ]
    const entries = history.map((one, minute) => entryOf(one, minute, [4001]))
    expect(grantUids(entries)).toEqual(new Set(['u1', 'u2']))
    const [first, second] = grantIntervals(entries)
    expect(first).toEqual({
      grant: 'acme/g1',
      uid: 'u1',
      from: at(0),
      until: at(1),
      end: { cause: 'Deleted', by: 'olivia' },
      person: 'github|github.com|42',
      login: 'dave',
      rule: 'read-contents',
      subjects: ['ServiceAccount/ci'],
      permissions: { contents: 'read' },
      repositoryIds: [4001],
      repositories: ['acme/shop'],
      sequence: 1,
    } satisfies GrantInterval)
    expect(second).toMatchObject({ until: at(3), end: { cause: 'RequesterLacksAccess', by: undefined } })
  })

  test('a range has what held in any part of it', () => {
    const interval = { from: at(10), until: at(20) }
    const range = (from: number, to: number) => ({ since: new Date(at(from)), until: new Date(at(to)) })
    for (const [from, to, wanted] of [
      [0, 9, false],
      [0, 10, true],
      [19, 30, true],
      [20, 30, false],
      [12, 13, true],
    ] as const)
      expect([from, to, isWithin(interval, range(from, to))]).toEqual([from, to, wanted])
    expect(isWithin({ from: at(10), until: undefined }, range(50, 60))).toBe(true)
  })
})
