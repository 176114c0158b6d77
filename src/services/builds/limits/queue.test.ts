// The queue: limits are never exceeded, tenants take turns, no build waits for ever.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RunningBuild } from '../builder.ts'
import { nextTurns, sharerText } from './fair-share.ts'
import { placeOf, placeText, type QueuedBuild, queuedMessage } from './queue.ts'

function queued(tenant: string, name: string, since: number, tenantLimit = 2): QueuedBuild {
  return { tenant, name, since: new Date(since).toISOString(), tenantLimit }
}

describe('build queue', () => {
  test('a tenant with many queued builds gets the same turns as a tenant with one', () => {
    const many = Array.from({ length: 10 }, (_, index) => queued('a', `a${index}`, index))
    expect([...nextTurns([], [...many, queued('b', 'b0', 99)], 3)]).toEqual(['a/a0', 'b/b0', 'a/a1'])
  })

  test('the tenant limit holds while platform slots are free', () => {
    expect([...nextTurns([{ tenant: 'a', name: 'x' }], [queued('a', 'y', 1), queued('a', 'z', 2)], 3)]).toEqual(['a/y'])
  })

  test('a full platform starts nothing', () => {
    const running = ['x', 'y', 'z'].map(tenant => ({ tenant, name: 'n' }))
    expect(nextTurns(running, [queued('a', 'n', 1)], 3).size).toBe(0)
  })

  const build = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c'),
    name: fc.stringMatching(/^[a-z]{1,3}$/),
    since: fc.integer({ min: 0, max: 9 }),
  })
  const unique = fc.uniqueArray(build, { selector: sharerText, maxLength: 20 })

  test('no limit is ever exceeded, and no slot that a queued build may take stays free', () => {
    fc.assert(
      fc.property(
        unique,
        fc.nat(20),
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 1, max: 3 }),
        (all, cut, platform, perTenant) => {
          const running: readonly RunningBuild[] = all.slice(0, cut)
          const rest = all.slice(cut).map(item => queued(item.tenant, item.name, item.since, perTenant))
          const admitted = nextTurns(running, rest, platform)
          const after = [...running, ...rest.filter(item => admitted.has(sharerText(item)))]
          const count = (tenant: string): number => after.filter(item => item.tenant === tenant).length
          if (admitted.size > 0) expect(after.length).toBeLessThanOrEqual(platform)
          for (const item of rest) {
            if (admitted.has(sharerText(item))) expect(count(item.tenant)).toBeLessThanOrEqual(perTenant)
            else expect(after.length >= platform || count(item.tenant) >= perTenant).toBe(true)
          }
        },
      ),
    )
  })

  test('the message names the place and the limit that applies, and no other tenant', () => {
    const running = [
      { tenant: 'a', name: 'x' },
      { tenant: 'b', name: 'y' },
    ]
    const waiting = [queued('b', 'first', 0), ...[3, 1, 2].map(since => queued('a', `z${since}`, since, 1))]
    expect(queuedMessage(queued('a', 'z2', 2, 1), { running, queued: waiting, platformLimit: 3 })).toBe(
      '2nd of 3 builds of this tenant that wait; 1 of at most 1 of its builds are running: this one starts when those before it have ended',
    )
    expect(queuedMessage(queued('a', 'z1', 1, 2), { running, queued: waiting, platformLimit: 2 })).toBe(
      '1st of 3 builds of this tenant that wait; all 2 build slots of the platform are in use: this one starts when its turn comes',
    )
  })

  test('of two hundred builds only the first ten have another place when one begins', () => {
    const all = Array.from({ length: 200 }, (_, index) => queued('a', `z${1000 + index}`, index))
    const places = (from: number) => all.slice(from).map(build => placeText(placeOf(build, all.slice(from))))
    const [before, after] = [places(0).slice(1), places(1)]
    expect(before.filter((place, index) => place !== after[index])).toHaveLength(10)
    expect(before.slice(0, 2)).toEqual(['2 of more than 10', '3 of more than 10'])
    expect(before.at(-1)).toBe('after 10')
  })
})
