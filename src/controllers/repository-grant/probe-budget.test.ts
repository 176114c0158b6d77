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

const namesOf = (count: number, prefix = 'grant'): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

test('a tenant can have its whole quota of grants checked at once, and 600 an hour after that, in the order in which they came', async () => {
  const clock = createFakeClock()
  const budget = createProbeBudget(clock)
  const isChecked = (uid: string): boolean => budget.take({ namespace: 'acme', uid }) === undefined
  const all = namesOf(1100)
  let waiting = all.filter(uid => !isChecked(uid))
  expect(waiting).toEqual(all.slice(500))
  expect(budget.take({ namespace: 'globex', uid: 'theirs' })).toBeUndefined()
  for (let minute = 1; minute <= 60; minute++) {
    await clock.advance(60_000)
    // Whoever asks first gets nothing of it before its turn.
    waiting = waiting
      .toReversed()
      .filter(uid => !isChecked(uid))
      .reverse()
    expect(waiting).toEqual(all.slice(500 + minute * 10))
  }
  expect(budget.take({ namespace: 'acme', uid: 'new' })?.retryAfterSeconds).toBe(6)
})

test('nobody waits longer than an hour, whatever else of the tenant waits, and what is deleted gives back its turn', async () => {
  const clock = createFakeClock()
  const budget = createProbeBudget(clock)
  const secondsOf = (uid: string): number => budget.take({ namespace: 'acme', uid })?.retryAfterSeconds ?? 0
  const some = namesOf(501)
  for (const uid of some) secondsOf(uid)
  expect(secondsOf('next')).toBe(12)
  for (const uid of [some[500] ?? '', 'next', 'next', 'unknown']) budget.release({ namespace: 'acme', uid })
  expect(secondsOf('another')).toBe(6)
  for (const uid of namesOf(5000, 'flood')) expect(secondsOf(uid)).toBeLessThanOrEqual(3600)
  await clock.advance(3_600_000)
  expect(secondsOf('later')).toBeLessThanOrEqual(6)
})
