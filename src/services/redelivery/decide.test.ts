// Which deliveries count as missed, and when a redelivery is due.
import { expect, test } from 'vitest'
import type { Delivery } from '../../github/index.ts'
import { missedDeliveries } from './decide.ts'

const now = new Date('2026-01-10T00:00:00Z')
const ago = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000)
let lastId = 0
const attempt = (guid: string, minutes: number, statusCode: number, redelivery = false): Delivery => {
  lastId += 1
  return { id: String(lastId), guid, deliveredAt: ago(minutes), redelivery, statusCode }
}
const guids = (attempts: readonly Delivery[], due = true): readonly string[] =>
  missedDeliveries(attempts, 'github.com', now)
    .filter(one => one.due === due)
    .map(one => one.guid)

test('a delivery that was answered 2xx in any attempt has arrived', () => {
  expect(guids([attempt('a', 5, 202), attempt('b', 5, 503), attempt('b', 4, 202, true)])).toEqual([])
})

test('deliveries without an answer, with a server error or with a refusal are missed; the oldest comes first', () => {
  expect(guids([attempt('late', 3, 0), attempt('down', 9, 502), attempt('refused', 5, 401)])).toEqual(['down', 'refused', 'late'])
})

test('the wait doubles after each failed redelivery', () => {
  const failing = (again: number, lastMinutes: number) => [
    attempt('x', 2000, 503),
    ...Array.from({ length: again }, (_, index) => attempt('x', lastMinutes + again - 1 - index, 503, true)),
  ]
  expect(guids(failing(1, 0))).toEqual([])
  expect(guids(failing(1, 1))).toEqual(['x'])
  expect(guids(failing(3, 3))).toEqual([])
  expect(guids(failing(3, 4))).toEqual(['x'])
  expect(guids(failing(20, 359), false)).toEqual(['x'])
  expect(guids(failing(20, 360))).toEqual(['x'])
})

test.each([
  ['github.com', 3],
  ['acme.ghe.com', 3],
  ['github.example.com', 7],
])('a delivery of %s is left out after %i days', (host, days) => {
  const attempts = [attempt('old', days * 24 * 60, 503), attempt('young', days * 24 * 60 - 1, 503)]
  expect(missedDeliveries(attempts, host, now).map(({ guid }) => guid)).toEqual(['young'])
})

test('the latest attempt is the one to redeliver', () => {
  const attempts = [attempt('x', 10, 503), attempt('x', 8, 503, true)]
  expect(missedDeliveries(attempts, 'github.com', now)[0]?.id).toBe(attempts[1]?.id)
})
