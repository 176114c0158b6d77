import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databases, movableClock, openTestStore, type TestDatabase } from '../../../test/fixtures/databases.ts'
import type { BrokerStore } from '../store.ts'

describe.each(databases)('attempts on $name', ({ start }) => {
  const clock = movableClock()
  let place: TestDatabase
  let store: Pick<BrokerStore, 'attempts' | 'close'>

  beforeAll(async () => {
    place = await start()
    store = await openTestStore(place.location, clock)
  })
  afterAll(async () => {
    await store?.close()
    await place?.stop()
  })

  test('are counted by name until the window ends, which later attempts do not prolong', async () => {
    const { count } = store.attempts
    expect([await count('noah', 1000), await count('noah', 1000), await count('olivia', 1000)]).toEqual([1, 2, 1])
    clock.advance(0.9)
    expect(await count('noah', 1000)).toBe(3)
    clock.advance(0.2)
    expect(await count('noah', 1000)).toBe(1)
  })

  test('at the same time each get a number of their own', async () => {
    const numbers = await Promise.all(Array.from({ length: 50 }, () => store.attempts.count('at once', 1000)))
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
  })

  test('are forgotten when their window has ended, and not before', async () => {
    await store.attempts.count('short', 1000)
    await store.attempts.count('long', 10_000)
    clock.advance(2)
    await store.attempts.deleteExpired(clock.now())
    expect(await store.attempts.count('long', 10_000)).toBe(2)
    expect(await store.attempts.deleteExpired(clock.now())).toBe(0)
  })

  test('need a name within bounds', async () => {
    await expect(store.attempts.count('', 1000)).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(store.attempts.count('x'.repeat(301), 1000)).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
