// A registry that does not delete is reported once and left alone for a day.
import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createRests } from './rests.ts'

function make() {
  const clock = createFakeClock()
  const lines: object[] = []
  const seen: number[] = []
  const rests = createRests({
    clock,
    log: { error: fields => void lines.push(fields) },
    observe: parts => void seen.push(parts),
  })
  return { clock, lines, seen, rests }
}

test('an account without the right rests alone; a registry that never deletes rests as a whole', () => {
  const { rests, lines, seen } = make()
  rests.refused({ kind: 'refused', status: 403, byRegistry: false }, 'acme')
  expect([rests.isResting('acme'), rests.isResting('globex')]).toEqual([true, false])
  rests.refused({ kind: 'refused', status: 405, byRegistry: true }, 'globex')
  expect([rests.isResting('acme'), rests.isResting('globex'), rests.isResting('new')]).toEqual([true, true, true])
  expect(lines).toEqual([{ status: 403, namespace: 'acme' }, { status: 405 }])
  expect(seen).toEqual([1, 2])
})

test('after a day it is tried again; the same refusal is not reported again, a new one after a success is', () => {
  const { rests, lines, clock } = make()
  const refusal = { kind: 'refused', status: 405, byRegistry: true } as const
  rests.refused(refusal, 'acme')
  clock.step(86_400_000 - 1)
  expect(rests.isResting('acme')).toBe(true)
  clock.step(1)
  expect(rests.isResting('acme')).toBe(false)
  rests.refused(refusal, 'acme')
  expect(rests.isResting('acme')).toBe(true)
  expect(lines).toHaveLength(1)
  rests.deleted('acme')
  expect(rests.isResting('acme')).toBe(false)
  rests.refused(refusal, 'acme')
  expect(lines).toHaveLength(2)
})
