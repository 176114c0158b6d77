// The figures that the documentation states for checks of grants at GitHub.
import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createProbeBudget } from './probe-budget.ts'

test('one grant is checked at most five times at once and then once a minute, and the others are not delayed', async () => {
  const clock = createFakeClock()
  const budget = createProbeBudget(clock)
  let checked = 0
  for (let second = 0; second < 3600; second++) {
    if (budget.take({ namespace: 'acme', uid: 'loop' }) === undefined) checked += 1
    await clock.advance(1000)
  }
  expect(checked).toBeLessThanOrEqual(65)
  expect(budget.take({ namespace: 'acme', uid: 'other' })).toBeUndefined()
})

test('a tenant can have its whole quota of grants checked at once, and 600 an hour after that', async () => {
  const clock = createFakeClock()
  const budget = createProbeBudget(clock)
  let grants = 0
  const checkedNow = (attempts: number): number =>
    Array.from({ length: attempts }, () => budget.take({ namespace: 'acme', uid: `grant-${grants++}` })).filter(
      refused => refused === undefined,
    ).length
  expect(checkedNow(600)).toBe(500)
  let later = 0
  for (let minute = 0; minute < 60; minute++) {
    await clock.advance(60_000)
    later += checkedNow(50)
  }
  expect(later).toBe(600)
  expect(budget.take({ namespace: 'acme', uid: 'new' })?.retryAfterSeconds).toBe(6)
  expect(budget.take({ namespace: 'globex', uid: 'theirs' })).toBeUndefined()
})
