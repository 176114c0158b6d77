import { expect, test } from 'vitest'
import { createFakeClock, settle } from './testing/fake-clock.ts'
import { createWorkQueue } from './workqueue.ts'

test('urgent keys go before low ones, each in order of arrival, and an urgent add lifts a low key', async () => {
  const queue = createWorkQueue({ clock: createFakeClock() })
  queue.add('low-1', 'low')
  queue.add('low-2', 'low')
  queue.add('normal-1')
  queue.add('low-2')
  queue.add('low-2', 'low')
  const order = [await queue.take(), await queue.take(), await queue.take()]
  expect(order).toEqual(['normal-1', 'low-2', 'low-1'])
})

test('what is added while its work runs comes once more, after done', async () => {
  const queue = createWorkQueue({ clock: createFakeClock() })
  queue.add('a')
  await queue.take()
  queue.add('a')
  queue.add('a')
  expect(queue.depth()).toBe(0)
  queue.done('a')
  expect(queue.depth()).toBe(1)
  expect(await queue.take()).toBe('a')
  queue.done('a')
  expect(queue.depth()).toBe(0)
})

test('of several delays the earliest counts', async () => {
  const clock = createFakeClock()
  const queue = createWorkQueue({ clock })
  queue.addAfter('a', 5000)
  queue.addAfter('a', 1000)
  queue.addAfter('a', 9000)
  await clock.advance(999)
  expect(queue.depth()).toBe(0)
  await clock.advance(1)
  expect(await queue.take()).toBe('a')
  queue.done('a')
  await clock.advance(20_000)
  expect(queue.depth()).toBe(0)
})

test('a taker that gives up takes nothing away, and idle waits for what is in work', async () => {
  const queue = createWorkQueue({ clock: createFakeClock() })
  const gaveUp = new AbortController()
  const taking = queue.take(gaveUp.signal)
  gaveUp.abort()
  expect(await taking).toBeUndefined()
  queue.add('a')
  expect(await queue.take()).toBe('a')
  let idle = false
  const waiting = queue.idle().then(() => {
    idle = true
  })
  await settle()
  expect(idle).toBe(false)
  queue.done('a')
  await waiting
  const last = queue.take()
  queue.shutDown()
  expect(await last).toBeUndefined()
  queue.add('b')
  expect(queue.depth()).toBe(0)
})

test('one tenant never has all hands, and one that is left to itself frees its tenant', async () => {
  const queue = createWorkQueue({ clock: createFakeClock(), tenantOf: key => key.slice(0, 1), perTenant: 2 })
  for (const key of ['a1', 'a2', 'a3', 'a4']) queue.add(key)
  expect([await queue.take(), await queue.take()]).toEqual(['a1', 'a2'])
  const third = queue.take()
  const fourth = queue.take()
  queue.add('b1')
  expect(await third).toBe('b1')
  queue.abandon('a1')
  expect(await fourth).toBe('a3')
  // The abandoned one is still in work: it comes again only after it was given back.
  queue.add('a1')
  expect(queue.depth()).toBe(1)
  queue.done('a1')
  expect(queue.depth()).toBe(2)
})

test('ten thousand delays cost one timer, and each comes at its time', async () => {
  const clock = createFakeClock()
  const queue = createWorkQueue({ clock })
  for (let index = 10_000; index > 0; index--) queue.addAfter(`key-${index}`, index * 10)
  expect(clock.sleepers()).toBe(1)
  await clock.advance(25)
  expect([await queue.take(), await queue.take()]).toEqual(['key-1', 'key-2'])
  expect(queue.depth()).toBe(0)
  queue.shutDown()
  expect(clock.sleepers()).toBe(0)
})
