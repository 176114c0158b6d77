import { expect, test } from 'vitest'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { Slot } from '../slots/slots.ts'
import { endedOf, nextStatus } from './status.ts'

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

test('one that the platform closed is said until another one is delivered, with the time when it is made', () => {
  const { apiVersion, kind } = serviceBinding
  const closed = { slot: 'a', state: 'Closed', issuedAt: new Date(time(1)) } as const satisfies Slot
  const endedAt = (minute: number) => ({ slot: 'a', issuedAt: time(1), endedAt: time(minute), cause: 'LockTableFilled' }) as const
  const said = (present: readonly Slot[], status: object = {}, delivered?: { version: number; principal: string }) => {
    const binding = { apiVersion, kind, metadata: { name: 'b' }, spec: {}, status: { principal: 'l_x_a', ...status } } as never
    return nextStatus(binding, { slots: present, delivered }, now)
  }
  const readyOf = (...args: Parameters<typeof said>) => findCondition(said(...args).conditions, 'Ready')
  const closing = { status: 'False', reason: 'LockTableFilled' }
  expect(readyOf([closed])).toMatchObject({ ...closing, message: expect.stringMatching(/closed l_x_a: .* made now$/) })
  expect(said([], { slots: [{ ...closed, issuedAt: time(1) }] }).ended).toEqual([endedAt(30)])
  expect(readyOf([], { ended: [endedAt(29)] })).toMatchObject({ ...closing, message: expect.stringContaining('made now') })
  const again = { ended: [endedAt(29), endedAt(2)] }
  expect(readyOf([], again)).toMatchObject({ ...closing, message: expect.stringContaining(`made at ${time(39)}`) })
  const making = { slot: 'a', state: 'Making', issuedAt: now } as const satisfies Slot
  expect(readyOf([making], again)).toMatchObject(closing)
  const next = { slot: 'a', state: 'Delivered', issuedAt: now } as const satisfies Slot
  expect(readyOf([next], again, { version: 2, principal: 'l_x_a' })).toMatchObject({ status: 'True', reason: 'Delivered' })
  // The Secret of that one was deleted: it was not closed.
  expect(readyOf([next], again)).toMatchObject({ status: 'False', reason: 'Issuing' })
  expect(readyOf([], { ended: [{ slot: 'a', issuedAt: time(1), endedAt: time(29) }] })).toMatchObject({ reason: 'Issuing' })
})
