// The queue: limits are never exceeded, tenants take turns, nobody is passed over for ever.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { createBuildSlots } from './build-slots.ts'
import type { RunningBuild } from './builder.ts'
import { buildText, nextBuilds, type WaitingBuild } from './queue.ts'

function waiting(tenant: string, name: string, since: number): WaitingBuild {
  return { tenant, name, since: new Date(since).toISOString() }
}

const limits = { platform: 3, ofTenant: () => 2 }

describe('build queue', () => {
  test('a tenant with many waiting builds takes the same turns as a tenant with one', () => {
    const many = Array.from({ length: 10 }, (_, index) => waiting('a', `a${index}`, index))
    expect([...nextBuilds([], [...many, waiting('b', 'b0', 99)], limits)]).toEqual(['a/a0', 'b/b0', 'a/a1'])
  })

  test('the tenant limit holds while platform slots are free', () => {
    expect([...nextBuilds([{ tenant: 'a', name: 'x' }], [waiting('a', 'y', 1), waiting('a', 'z', 2)], limits)]).toEqual(['a/y'])
  })

  test('a full platform starts nothing', () => {
    const running = ['x', 'y', 'z'].map(tenant => ({ tenant, name: 'n' }))
    expect(nextBuilds(running, [waiting('a', 'n', 1)], limits).size).toBe(0)
  })

  const build = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c'),
    name: fc.stringMatching(/^[a-z]{1,3}$/),
    since: fc.integer({ min: 0, max: 9 }),
  })
  const unique = fc
    .uniqueArray(build, { selector: buildText, maxLength: 20 })
    .map(list => list.map(item => waiting(item.tenant, item.name, item.since)))

  test('no limit is ever exceeded and no slot stays empty that somebody could take', () => {
    fc.assert(
      fc.property(
        unique,
        fc.nat(20),
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 1, max: 3 }),
        (all, cut, platform, perTenant) => {
          const running: readonly RunningBuild[] = all.slice(0, cut)
          const rest = all.slice(cut)
          const given = nextBuilds(running, rest, { platform, ofTenant: () => perTenant })
          const after = [...running, ...rest.filter(item => given.has(buildText(item)))]
          const count = (tenant: string): number => after.filter(item => item.tenant === tenant).length
          if (given.size > 0) expect(after.length).toBeLessThanOrEqual(platform)
          for (const item of rest) {
            if (given.has(buildText(item))) expect(count(item.tenant)).toBeLessThanOrEqual(perTenant)
            else expect(after.length >= platform || count(item.tenant) >= perTenant).toBe(true)
          }
        },
      ),
    )
  })

  describe('slots', () => {
    const one = { platform: 1, ofTenant: () => 1 }
    const owner = (uid: string) => ({ namespace: uid, name: 'sync', uid })
    const [first, second] = [waiting('a', 'first', 1), waiting('b', 'second', 2)]

    test('two reconciles that both see the last free slot do not both get it', () => {
      const known = new Set<string>()
      const running: RunningBuild[] = []
      const slots = createBuildSlots({ running: () => running, known: key => known.has(key.name) }, systemClock)
      expect(slots.take(owner('a'), first, one)).toEqual({ kind: 'granted' })
      expect(slots.take(owner('b'), second, one)).toMatchObject({ kind: 'queued' })
      known.add('first')
      running.push(first)
      expect(slots.take(owner('b'), second, one)).toMatchObject({ kind: 'queued' })
      expect(slots.waiting()).toEqual([{ namespace: 'b', name: 'sync' }])
      running.pop()
      expect(slots.take(owner('b'), second, one)).toEqual({ kind: 'granted' })
      expect(slots.waiting()).toEqual([])
    })

    test('a slot that was not used, and a turn that nobody wants any more, go to the next', () => {
      const slots = createBuildSlots({ running: () => [], known: () => false }, systemClock)
      expect(slots.take(owner('a'), first, one)).toEqual({ kind: 'granted' })
      expect(slots.take(owner('b'), second, one)).toMatchObject({ kind: 'queued' })
      expect(slots.take(owner('c'), waiting('c', 'third', 3), one)).toMatchObject({ kind: 'queued' })
      slots.giveBack({ namespace: 'a', name: 'first' })
      expect(slots.take(owner('c'), waiting('c', 'third', 3), one)).toMatchObject({ kind: 'queued' })
      slots.leave('b')
      expect(slots.take(owner('c'), waiting('c', 'third', 3), one)).toEqual({ kind: 'granted' })
    })
  })
})
