// The promises of the queue hold whatever is added, delayed, taken, abandoned and done in whatever order.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createWorkQueue, type Priority } from './workqueue.ts'

const key = fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1')
const tenantOf = (text: string): string => text.slice(0, 1)
const add = fc.record({ do: fc.constant('add' as const), key, low: fc.boolean() })
const take = fc.record({ do: fc.constant('take' as const) })
const done = fc.record({ do: fc.constant('done' as const), key })

/** A queue with two keys per tenant in progress at most, and what must hold for it after the steps so far. */
function observedQueue() {
  const clock = createFakeClock()
  const queue = createWorkQueue({ clock, tenantOf, perTenant: 2 })
  const inProgress = new Set<string>()
  const abandoned = new Set<string>()
  // Keys that were added since they were last taken: they must still come.
  const owed = new Set<string>()
  const delays = new Map<string, number>()
  const ripen = (): void => {
    for (const [delayed, at] of delays) if (at <= clock.monotonic() && delays.delete(delayed)) owed.add(delayed)
  }
  const take = (): void => {
    const taken = queue.next()
    if (taken === undefined) return
    expect(inProgress.has(taken)).toBe(false)
    inProgress.add(taken)
    ripen()
    owed.delete(taken)
  }
  const giveBack = (taken: string): void => {
    if (!inProgress.delete(taken)) return
    abandoned.delete(taken)
    queue.done(taken)
  }
  return {
    clock,
    queue,
    inProgress,
    abandoned,
    owed,
    ripen,
    take,
    done: giveBack,
    add(added: string, low: boolean) {
      owed.add(added)
      queue.add(added, low ? 'low' : 'normal')
    },
    after(delayed: string, milliseconds: number) {
      const at = clock.monotonic() + milliseconds
      if (milliseconds <= 0) owed.add(delayed)
      else delays.set(delayed, Math.min(at, delays.get(delayed) ?? at))
      queue.addAfter(delayed, milliseconds)
    },
    abandon(taken: string) {
      if (!inProgress.has(taken)) return
      abandoned.add(taken)
      queue.abandon(taken)
    },
  }
}

const abandon = fc.record({ do: fc.constant('abandon' as const), key })
const after = fc.record({ do: fc.constant('after' as const), key, milliseconds: fc.integer({ min: -5, max: 3000 }) })
const tick = fc.record({ do: fc.constant('tick' as const), milliseconds: fc.integer({ min: 0, max: 2000 }) })
const anyStep = fc.oneof(add, take, done, abandon, after, tick)
type AnyStep = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

async function perform(observed: ReturnType<typeof observedQueue>, each: AnyStep): Promise<void> {
  switch (each.do) {
    case 'add':
      return observed.add(each.key, each.low)
    case 'after':
      return observed.after(each.key, each.milliseconds)
    case 'take':
      return observed.take()
    case 'done':
      return observed.done(each.key)
    case 'abandon':
      return observed.abandon(each.key)
    case 'tick':
      await observed.clock.advance(each.milliseconds)
  }
}

test('no key is in progress twice, none is lost, each waits at most once, and no tenant exceeds its limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 80, size: 'max' }), async steps => {
      const observed = observedQueue()
      const { queue, inProgress, abandoned } = observed
      for (const each of steps) {
        await perform(observed, each)
        observed.ripen()
        expect(queue.depth('normal') + queue.depth('low')).toBeLessThanOrEqual(6)
        const counted = [...inProgress].filter(taken => !abandoned.has(taken)).map(tenantOf)
        for (const tenant of ['a', 'b', 'c']) expect(counted.filter(other => other === tenant).length).toBeLessThanOrEqual(2)
      }
      await observed.clock.advance(10_000)
      observed.ripen()
      // Enough rounds to empty the queue, one key at a time.
      for (let round = 0; round < 14; round++) {
        for (const taken of [...inProgress]) observed.done(taken)
        observed.take()
      }
      expect([...observed.owed]).toEqual([])
      expect(queue.depth('normal') + queue.depth('low')).toBe(0)
      queue.shutDown()
    }),
    { numRuns: 500 },
  )
})

/** The promised order as plain lists: per priority and tenant, in the order of arrival. */
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
    /** Removes the key; returns why it should not have been taken now, if so. */
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

/** A queue beside the model of its order, and the fairness between tenants. */
function orderedQueue() {
  const queue = createWorkQueue({ clock: createFakeClock(), tenantOf })
  const model = orderModel()
  const inProgress = new Set<string>()
  // Per priority and waiting tenant: who was served since its last turn, or since it began to wait.
  const served = new Map<string, string[]>()
  const waits = (priority: Priority, tenant: string): boolean =>
    model.waiting.some(entry => entry.priority === priority && tenantOf(entry.key) === tenant)
  return {
    add(added: string, low: boolean) {
      if (inProgress.has(added)) return
      queue.add(added, low ? 'low' : 'normal')
      model.added(added, low ? 'low' : 'normal')
    },
    take() {
      if (model.waiting.length === 0) return
      const taken = queue.next()
      if (taken === undefined) throw new Error('the queue returned nothing although keys wait')
      const priority = model.waiting.find(entry => entry.key === taken)?.priority ?? 'normal'
      expect(model.taken(taken)).toBeUndefined()
      inProgress.add(taken)
      served.delete(`${priority} ${tenantOf(taken)}`)
      for (const tenant of ['a', 'b', 'c'].filter(other => other !== tenantOf(taken) && waits(priority, other)))
        served.set(`${priority} ${tenant}`, [...(served.get(`${priority} ${tenant}`) ?? []), tenantOf(taken)])
    },
    done(taken: string) {
      if (inProgress.delete(taken)) queue.done(taken)
    },
    expectFair() {
      for (const [place, others] of served) {
        const [priority = '', tenant = ''] = place.split(' ')
        if (!waits(priority as Priority, tenant)) served.delete(place)
        else expect(new Set(others).size, `${place} waits, served: ${others}`).toBe(others.length)
      }
    },
  }
}

test('urgent before low, first come first served within a tenant, and while a tenant waits no other is served twice', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(add, take, done), { maxLength: 80, size: 'max' }), steps => {
      const ordered = orderedQueue()
      for (const each of steps) {
        if (each.do === 'add') ordered.add(each.key, each.low)
        else if (each.do === 'take') ordered.take()
        else ordered.done(each.key)
        ordered.expectFair()
      }
    }),
    { numRuns: 1000 },
  )
})
