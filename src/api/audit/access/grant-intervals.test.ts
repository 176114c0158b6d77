// The state at a time follows from the log alone: random histories of grants against what was so.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type GrantInterval, grantIntervals, grantUids, isWithin } from './grant-intervals.ts'
import type { LogEntry } from './log-entry.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

type Event = { readonly grant: number; readonly kind: 'approved' | 'denied' | 'ended' | 'other' }

function entryOf({ grant, kind }: Event, minute: number): LogEntry {
  const decided = kind === 'approved' || kind === 'denied'
  return {
    sequence: minute + 1,
    at: at(minute),
    action: decided ? 'grant.decided' : kind === 'ended' ? 'grant.ended' : 'token.delivered',
    actor: 'github|github.com|42',
    object: `RepositoryGrant/acme/g${grant}`,
    outcome: kind === 'denied' ? 'denied' : 'allowed',
    reason: 'r',
    details: {
      grantUid: `u${grant}`,
      person: 'github|github.com|42',
      login: 'dave',
      rule: 'read-contents',
      check: kind === 'denied' ? 'RequesterLacksAccess' : 'Approved',
      ...(kind === 'ended' ? { cause: 'Deleted', doer: 'github|github.com|7', doerLogin: 'olivia' } : {}),
      subjects: [{ kind: 'ServiceAccount', name: 'ci' }],
      permissions: { contents: 'read' },
      repositoryIds: kind === 'denied' ? [] : [4001],
      repositories: [{ id: 4001, fullName: 'acme/shop' }],
    },
    previousHash: '',
    hash: 'h',
  }
}

const moment = (minute: number) => ({ since: new Date(at(minute)), until: new Date(at(minute)) })

describe('who could', () => {
  const event = fc.record({
    grant: fc.integer({ min: 1, max: 4 }),
    kind: fc.constantFrom<Event['kind']>('approved', 'denied', 'ended', 'other'),
  })

  test('at any time is who was approved last and not denied or ended since', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), fc.nat({ max: 45 }), (events, minute) => {
        const intervals = grantIntervals(events.map(entryOf))
        const could = new Set(intervals.filter(one => isWithin(one, moment(minute))).map(({ uid }) => uid))
        const last = new Map<number, Event['kind']>()
        for (const { grant, kind } of events.slice(0, minute + 1)) if (kind !== 'other') last.set(grant, kind)
        const wanted = [...last].flatMap(([grant, kind]) => (kind === 'approved' ? [`u${grant}`] : []))
        expect(could).toEqual(new Set(wanted))
      }),
    )
  })

  test('an interval says who, by which rule, and who ended it', () => {
    const history: readonly Event[] = [
      { grant: 1, kind: 'approved' },
      { grant: 1, kind: 'ended' },
      { grant: 2, kind: 'approved' },
      { grant: 2, kind: 'denied' },
    ]
    const entries = history.map(entryOf)
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
