// Which pull requests have a row when there are more than rows: strangers, who open as many as they like, do not take the rows
// of others.
import { expect, test } from 'vitest'
import { maxRows } from '../../api/apps/app-pipeline/status.ts'
import type { Row } from './activity.ts'
import { mostImportant } from './status.ts'

const repository = 4001
const row = (number: number, changes: Partial<Row> = {}): Row => ({
  number,
  headCommit: 'a'.repeat(40),
  headRepository: repository,
  state: 'LeftOut',
  reason: 'Because',
  message: 'of this',
  since: '2026-01-01T00:00:00.000Z',
  // The newest is the one with the highest number.
  activeAt: new Date(Date.parse('2026-01-01T00:00:00Z') + number * 1000).toISOString(),
  ...changes,
})
const rows = (count: number, from: number, changes: Partial<Row> = {}) =>
  Array.from({ length: count }, (_, index) => row(from + index, changes))
const numbers = (chosen: readonly Row[]) => chosen.map(({ number }) => number)

test('previews and pull requests of the repository itself keep their rows, however many forks wait', () => {
  const preview = row(1, { state: 'Running', application: 'shop-pr-1', headRepository: 4002 })
  const own = rows(50, 2)
  const flood = rows(500, 100, { state: 'WaitingForApproval', headRepository: 6666 })
  const chosen = numbers(mostImportant([preview, ...own, ...flood], repository))
  expect(chosen).toHaveLength(maxRows)
  expect(chosen.slice(0, 51)).toEqual([1, ...numbers(own)])
  expect(chosen.slice(51)).toEqual(numbers(flood.slice(-(maxRows - 51))))
})

test('the pull request of another fork has a row beside a flood from one, and can be approved', () => {
  const flood = rows(500, 100, { state: 'WaitingForApproval', headRepository: 6666 })
  const other = row(2, { state: 'WaitingForApproval', headRepository: 7777 })
  expect(numbers(mostImportant([other, ...flood], repository))).toContain(2)
})

test('what of a fork was approved counts like the repository itself', () => {
  const flood = rows(500, 100, { state: 'WaitingForApproval', headRepository: 6666 })
  const approved = row(2, { state: 'Waiting', headRepository: 6666 })
  expect(numbers(mostImportant([approved, ...flood], repository))).toContain(2)
})

test('of equals, those with the newest activity have the rows, in the order of their numbers', () => {
  const own = rows(maxRows + 3, 1)
  expect(numbers(mostImportant(own, repository))).toEqual(numbers(own).slice(3))
})
