// A registry that does not delete is reported once and left alone for a day.
import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createCooldowns } from './cooldowns.ts'

function make() {
  const clock = createFakeClock()
  const lines: object[] = []
  const seen: number[] = []
  const cooldowns = createCooldowns({
    clock,
    log: { error: fields => void lines.push(fields) },
    observe: parts => void seen.push(parts),
  })
  return { clock, lines, seen, cooldowns }
}

test('an account without the right cooldowns alone; a registry that never deletes cooldowns as a whole', () => {
  const { cooldowns, lines, seen } = make()
  cooldowns.refused({ kind: 'refused', status: 403, byRegistry: false }, 'acme')
  expect([cooldowns.isCoolingDown('acme'), cooldowns.isCoolingDown('globex')]).toEqual([true, false])
  cooldowns.refused({ kind: 'refused', status: 405, byRegistry: true }, 'globex')
  expect([cooldowns.isCoolingDown('acme'), cooldowns.isCoolingDown('globex'), cooldowns.isCoolingDown('new')]).toEqual([
    true,
    true,
    true,
  ])
  expect(lines).toEqual([{ status: 403, namespace: 'acme' }, { status: 405 }])
  expect(seen).toEqual([1, 2])
})

test('after a day it is tried again; the same refusal is not reported again, a new one after a success is', () => {
  const { cooldowns, lines, clock } = make()
  const refusal = { kind: 'refused', status: 405, byRegistry: true } as const
  cooldowns.refused(refusal, 'acme')
  clock.step(86_400_000 - 1)
  expect(cooldowns.isCoolingDown('acme')).toBe(true)
  clock.step(1)
  expect(cooldowns.isCoolingDown('acme')).toBe(false)
  cooldowns.refused(refusal, 'acme')
  expect(cooldowns.isCoolingDown('acme')).toBe(true)
  expect(lines).toHaveLength(1)
  cooldowns.deleted('acme')
  expect(cooldowns.isCoolingDown('acme')).toBe(false)
  cooldowns.refused(refusal, 'acme')
  expect(lines).toHaveLength(2)
})
