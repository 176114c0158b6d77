// How `why` marks a condition that is not True.
import { expect, test } from 'vitest'
import { kinds } from '../../../api/registry.ts'
import { fromCondition } from './step.ts'

const unready = (reason: string, message = 'a message') =>
  ({ type: 'Ready', status: 'False', reason, message, lastTransitionTime: '', observedGeneration: 1 }) as const

test.each(kinds.flatMap(({ kind, reasons }) => [...reasons].map(([name, reason]) => [kind, name, reason.class] as const)))(
  '%s %s',
  (_kind, name, of) => {
    expect(fromCondition(unready(name)).mark).toBe(of === 'progress' ? 'waiting' : 'wrong')
  },
)

test('a stage that waits for an earlier one is not reached, and a reason of another version is wrong', () => {
  expect(fromCondition(unready('Queued', 'waits for Fetched')).mark).toBe('open')
  expect(fromCondition(undefined).mark).toBe('open')
  expect(fromCondition(unready('Unheard')).mark).toBe('wrong')
})
