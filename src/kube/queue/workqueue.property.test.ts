// Whatever is added, delayed, taken, abandoned and given back in whatever order: the promises of the queue hold.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createWorkQueue, type Priority } from './workqueue.ts'

const key = fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1')
const tenantOf = (text: string): string => text.slice(0, 1)
const add = fc.record({ do: fc.constant('add' as const), key, low: fc.boolean() })
const take = fc.record({ do: fc.constant('take' as const) })
const done = fc.record({ do: fc.constant('done' as const), key })

test('no key is in two hands at once, none is lost, each waits at most once, and no tenant has more hands than allowed', async () => {
  const step = fc.oneof(
    add,
    take,
    done,
    fc.record({ do: fc.constant('abandon' as const), key }),
    fc.record({ do: fc.constant('after' as const), key, milliseconds: fc.integer({ min: -5, max: 3000 }) }),
    fc.record({ do: fc.constant('tick' as const), milliseconds: fc.integer({ min: 0, max: 2000 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), async steps => {
      const clock = createFakeClock()
      const queue = createWorkQueue({ clock, tenantOf, perTenant: 2 })
      const inWork = new Set<string>()
      const abandoned = new Set<string>()
      // Keys that were added since they were last taken: they must still come.
      const owed = new Set<string>()
      const delays = new Map<string, number>()
      const ripen = (): void => {
        for (const [delayed, at] of delays) if (at <= clock.monotonic() && delays.delete(delayed)) owed.add(delayed)
      }
      const grab = (): void => {
        const taken = queue.next()
        if (taken === undefined) return
        expect(inWork.has(taken)).toBe(false)
        inWork.add(taken)
        ripen()
        owed.delete(taken)
      }
      const giveBack = (held: string): void => {
        if (!inWork.delete(held)) return
        abandoned.delete(held)
        queue.done(held)
      }
      for (const each of steps) {
        if (each.do === 'add') {
          owed.add(each.key)
          queue.add(each.key, each.low ? 'low' : 'normal')
        } else if (each.do === 'after') {
          const at = clock.monotonic() + each.milliseconds
          if (each.milliseconds <= 0) owed.add(each.key)
          else delays.set(each.key, Math.min(at, delays.get(each.key) ?? at))
          queue.addAfter(each.key, each.milliseconds)
        } else if (each.do === 'take') grab()
        else if (each.do === 'done') giveBack(each.key)
        else if (each.do === 'abandon' && inWork.has(each.key)) {
          abandoned.add(each.key)
          queue.abandon(each.key)
        } else if (each.do === 'tick') await clock.advance(each.milliseconds)
        ripen()
        expect(queue.depth('normal') + queue.depth('low')).toBeLessThanOrEqual(6)
        for (const tenant of ['a', 'b', 'c'])
          expect([...inWork].filter(held => tenantOf(held) === tenant && !abandoned.has(held)).length).toBeLessThanOrEqual(2)
      }
      await clock.advance(10_000)
      ripen()
      // Enough to empty the queue, one hand at a time.
      for (let round = 0; round < 14; round++) {
        for (const held of [...inWork]) giveBack(held)
        grab()
      }
      expect([...owed]).toEqual([])
      expect(queue.depth('normal') + queue.depth('low')).toBe(0)
      queue.shutDown()
    }),
    { numRuns: 500 },
  )
})

/** The queue's promise about order as plain lists: per priority and tenant, in the order of arrival. */
function orderModel() {
  const waiting: { key: string; priority: Priority }[] = []
  return {
    waiting,
    added(added: string, priority: Priority) {
      const held = waiting.findIndex(entry => entry.key === added)
      const before = waiting[held]
      if (before !== undefined && (before.priority === priority || before.priority === 'normal')) return
      if (before !== undefined) waiting.splice(held, 1)
      waiting.push({ key: added, priority })
    },
    /** Takes the key out and answers with what may have been wrong about taking it now. */
    taken(taken: string): string | undefined {
      const at = waiting.findIndex(entry => entry.key === taken)
      const [entry] = waiting.splice(at, 1)
      if (at === -1 || entry === undefined) return `${taken} was not waiting`
      const rank = entry.priority
      if (rank === 'low' && waiting.some(({ priority }) => priority === 'normal')) return `${taken} went before urgent keys`
      const earlier = waiting.slice(0, at).find(other => other.priority === rank && tenantOf(other.key) === tenantOf(taken))
      return earlier === undefined ? undefined : `${taken} overtook ${earlier.key}`
    },
  }
}

test('urgent before low, first come first served within a tenant, and while a tenant waits no other is served twice', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(add, take, done), { maxLength: 80, size: 'max' }), steps => {
      const queue = createWorkQueue({ clock: createFakeClock(), tenantOf })
      const model = orderModel()
      const inWork = new Set<string>()
      // Per priority and waiting tenant: who was served since its turn, or since it began to wait.
      const served = new Map<string, string[]>()
      const waits = (priority: Priority, tenant: string): boolean =>
        model.waiting.some(entry => entry.priority === priority && tenantOf(entry.key) === tenant)
      for (const each of steps) {
        if (each.do === 'add' && !inWork.has(each.key)) {
          queue.add(each.key, each.low ? 'low' : 'normal')
          model.added(each.key, each.low ? 'low' : 'normal')
        } else if (each.do === 'take' && model.waiting.length > 0) {
          const taken = queue.next()
          if (taken === undefined) throw new Error('nothing came though keys wait')
          const priority = model.waiting.find(entry => entry.key === taken)?.priority ?? 'normal'
          expect(model.taken(taken)).toBeUndefined()
          inWork.add(taken)
          for (const tenant of ['a', 'b', 'c']) {
            const place = `${priority} ${tenant}`
            if (tenant === tenantOf(taken)) served.delete(place)
            else if (waits(priority, tenant)) served.set(place, [...(served.get(place) ?? []), tenantOf(taken)])
          }
        } else if (each.do === 'done' && inWork.delete(each.key)) queue.done(each.key)
        for (const [place, others] of served) {
          const [priority = '', tenant = ''] = place.split(' ')
          if (!waits(priority as Priority, tenant)) served.delete(place)
          else expect(new Set(others).size, `${place} waits, served: ${others}`).toBe(others.length)
        }
      }
    }),
    { numRuns: 1000 },
  )
})
