import { expect, test } from 'vitest'
import { createFakeClock, settle } from '../../lib/testing/fake-clock.ts'
import { createWorkQueue } from './workqueue.ts'

test('urgent keys go before low ones, each in order of arrival, and an urgent add lifts a low key', async () => {
  const queue = createWorkQueue({ clock: createFakeClock() })
  queue.add('low-1', 'low')
  queue.add('low-2', 'low')
  queue.add('normal-1')
  queue.add('low-2')
  queue.add('low-2', 'low')
  const order = [queue.next(), queue.next(), queue.next()]
  expect(order).toEqual(['normal-1', 'low-2', 'low-1'])
})

test('a key that is added while in progress is queued again after done', async () => {
  const queue = createWorkQueue({ clock: createFakeClock() })
  queue.add('a')
  queue.next()
  queue.add('a')
  queue.add('a')
  expect(queue.depth('normal')).toBe(0)
  queue.done('a')
  expect(queue.depth('normal')).toBe(1)
  expect(queue.next()).toBe('a')
  queue.done('a')
  expect(queue.depth('normal')).toBe(0)
})

test('of several delays the earliest counts', async () => {
  const clock = createFakeClock()
  const queue = createWorkQueue({ clock })
  queue.addAfter('a', 5000)
  queue.addAfter('a', 1000)
  queue.addAfter('a', 9000)
  await clock.advance(999)
  expect(queue.depth('normal')).toBe(0)
  await clock.advance(1)
  expect(queue.next()).toBe('a')
  queue.done('a')
  await clock.advance(20_000)
  expect(queue.depth('normal')).toBe(0)
})

test('reports when there may be a next key, and idle waits for the keys in progress', async () => {
  let calls = 0
  const queue = createWorkQueue({ clock: createFakeClock(), onReady: () => (calls += 1) })
  expect(queue.next()).toBeUndefined()
  queue.add('a')
  expect(calls).toBe(1)
  expect(queue.next()).toBe('a')
  let idle = false
  const waiting = queue.idle().then(() => {
    idle = true
  })
  await settle()
  expect(idle).toBe(false)
  queue.done('a')
  expect(calls).toBe(2)
  await waiting
  queue.add('b')
  queue.shutDown()
  expect(queue.next()).toBeUndefined()
})

test('one tenant never has all workers, and an abandoned key frees its tenant', async () => {
  const queue = createWorkQueue({ clock: createFakeClock(), tenantOf: key => key.slice(0, 1), perTenant: 2 })
  for (const key of ['a1', 'a2', 'a3', 'a4']) queue.add(key)
  expect([queue.next(), queue.next()]).toEqual(['a1', 'a2'])
  expect(queue.next()).toBeUndefined()
  queue.add('b1')
  expect(queue.next()).toBe('b1')
  queue.abandon('a1')
  expect(queue.next()).toBe('a3')
  // The abandoned key is still in progress: it is queued again only after `done`.
  queue.add('a1')
  expect(queue.depth('normal')).toBe(1)
  queue.done('a1')
  expect(queue.depth('normal')).toBe(2)
})

test('ten thousand delays cost one timer, and each key is due at its time', async () => {
  const clock = createFakeClock()
  const queue = createWorkQueue({ clock })
  for (let index = 10_000; index > 0; index--) queue.addAfter(`key-${index}`, index * 10)
  expect(clock.sleepers()).toBe(1)
  await clock.advance(25)
  expect([queue.next(), queue.next()]).toEqual(['key-1', 'key-2'])
  expect(queue.depth('normal')).toBe(0)
  queue.shutDown()
  expect(clock.sleepers()).toBe(0)
})
