import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFakeClock, settle } from './testing/fake-clock.ts'
import { createWorkQueue } from './workqueue.ts'

const key = fc.constantFrom('a', 'b', 'c', 'd')
const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key, low: fc.boolean() }),
  fc.record({ do: fc.constant('after' as const), key, milliseconds: fc.integer({ min: -5, max: 3000 }) }),
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('done' as const), key }),
  fc.record({ do: fc.constant('tick' as const), milliseconds: fc.integer({ min: 0, max: 2000 }) }),
)

test('no key is in two hands at once, none is lost, and each waits at most once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async steps => {
      const clock = createFakeClock()
      const queue = createWorkQueue({ clock })
      const inWork = new Set<string>()
      // Keys that were added since they were last taken: they must still come.
      const owed = new Set<string>()
      const take = async (): Promise<void> => {
        const taken = await queue.take()
        if (taken === undefined) return
        expect(inWork.has(taken)).toBe(false)
        inWork.add(taken)
        ripen()
        owed.delete(taken)
      }
      const delayed: { key: string; at: number }[] = []
      const ripen = (): void => {
        for (const delay of delayed) {
          if (delay.at > clock.monotonic()) continue
          owed.add(delay.key)
          delay.at = Number.POSITIVE_INFINITY
        }
      }
      for (const each of steps) {
        if (each.do === 'add') {
          owed.add(each.key)
          queue.add(each.key, each.low ? 'low' : 'normal')
        } else if (each.do === 'after') {
          const held = delayed.find(delay => delay.key === each.key)
          const at = clock.monotonic() + Math.max(0, each.milliseconds)
          if (each.milliseconds <= 0) owed.add(each.key)
          else if (held === undefined) delayed.push({ key: each.key, at })
          else held.at = Math.min(held.at, at)
          queue.addAfter(each.key, each.milliseconds)
        } else if (each.do === 'take') void take()
        else if (each.do === 'done') {
          if (inWork.delete(each.key)) queue.done(each.key)
        } else {
          await clock.advance(each.milliseconds)
          ripen()
        }
        await settle()
        expect(queue.depth()).toBeLessThanOrEqual(4)
      }
      await clock.advance(10_000)
      ripen()
      for (const held of inWork) queue.done(held)
      inWork.clear()
      // Takers that still wait from above count as well; enough more to empty the queue.
      for (let round = 0; round < 8; round++) {
        void take()
        await settle()
        for (const held of inWork) queue.done(held)
        inWork.clear()
      }
      expect([...owed]).toEqual([])
      expect(queue.depth()).toBe(0)
      queue.shutDown()
    }),
    { numRuns: 150 },
  )
})

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
