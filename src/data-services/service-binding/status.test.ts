import { expect, test } from 'vitest'
import { endedOf } from './status.ts'

const time = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
const now = new Date(time(30))
const slots = [
  { slot: 'a' as const, state: 'Draining' as const, issuedAt: time(1) },
  { slot: 'b' as const, state: 'Delivered' as const, issuedAt: time(2) },
]

test('a credential that was delivered and is recorded no more has ended, newest first, eight at most', () => {
  const earlier = Array.from({ length: 8 }, (_, n) => ({ slot: 'b' as const, issuedAt: time(-n), endedAt: time(1 - n) }))
  const left = [{ slot: 'b' as const, issuedAt: new Date(time(2)) }]
  const ended = endedOf({ slots, ended: earlier }, left, now)
  expect(ended).toEqual([{ slot: 'a', issuedAt: time(1), endedAt: time(30) }, ...earlier.slice(0, 7)])
})

test('another credential of the same slot is another one; what was never delivered does not count', () => {
  const again = [
    { slot: 'a' as const, issuedAt: new Date(time(9)) },
    { slot: 'b' as const, issuedAt: new Date(time(2)) },
  ]
  expect(endedOf({ slots }, again, now)).toEqual([{ slot: 'a', issuedAt: time(1), endedAt: time(30) }])
  expect(endedOf({ slots: [{ slot: 'a', state: 'Making', issuedAt: time(1) }] }, [], now)).toBeUndefined()
  expect(
    endedOf(
      { slots },
      slots.map(one => ({ ...one, issuedAt: new Date(one.issuedAt) })),
      now,
    ),
  ).toBeUndefined()
})
