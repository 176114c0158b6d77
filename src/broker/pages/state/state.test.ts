// Which pages load again by themselves.
import { expect, test } from 'vitest'
import { kinds } from '../../../api/registry.ts'
import { isMoving } from './state.ts'

const unready = (reason: string) => {
  const about = { type: 'Ready', status: 'False', message: '', lastTransitionTime: '', observedGeneration: 1 } as const
  return { metadata: {}, status: { conditions: [{ ...about, reason }] } }
}

test.each(kinds.flatMap(({ kind, reasons }) => [...reasons].map(([name, reason]) => [kind, name, reason.class] as const)))(
  '%s %s',
  (_kind, name, of) => {
    expect(isMoving(unready(name))).toBe(of === 'progress')
  },
)

test('what was just made or is being deleted moves, and what another version says does not', () => {
  expect(isMoving({ metadata: {} })).toBe(true)
  expect(isMoving({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).toBe(true)
  expect(isMoving(unready('Unheard'))).toBe(false)
})
