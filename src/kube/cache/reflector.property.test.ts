// The cache equals the server, and listeners received exactly the changes in between: after any interleaving of changes,
// broken, silent and refused watches, expired versions, failing lists, and objects that were recreated unobserved. Violations
// of the protocol (lost, late, repeated events) are corrected by the next list at the latest.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { settle } from '../../lib/testing/fake-clock.ts'
import { KubeError } from '../client/errors.ts'
import type { FakeServer } from '../testing/fake-server.ts'
import type { Thing } from '../testing/objects.ts'
import { reflect } from '../testing/reflect.ts'
import type { Change } from './object-cache.ts'

const name = fc.constantFrom('a', 'b', 'c')
const data = fc.string({ maxLength: 3 })
const interruptions = {
  broken: new KubeError('broken', { status: 0, reason: 'Unreachable' }),
  silent: new KubeError('silent', { status: 0, reason: 'Silent' }),
  unreadable: new KubeError('not JSON', { status: 0, reason: 'Malformed' }),
  failed: new KubeError('failed', { status: 500, reason: 'InternalError' }),
  expired: new KubeError('too old', { status: 410, reason: 'Expired' }),
  ended: 'ended',
} as const
const conforming = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name, data }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('swap' as const), name, data }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('drop' as const),
      how: fc.constantFrom('broken' as const, 'silent', 'unreadable', 'failed', 'expired', 'ended'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('compact' as const, 'bookmark', 'fail', 'tick', 'settle') }) },
)
const breaking = fc.oneof(
  fc.record({ do: fc.constant('lose' as const) }),
  fc.record({ do: fc.constant('repeat' as const), back: fc.nat({ max: 6 }) }),
)
type Step = typeof conforming extends fc.Arbitrary<infer A> ? A | { do: 'lose' } | { do: 'repeat'; back: number } : never

/**
 * What a listener that observes only changes believes to exist; returns what is wrong. (An exception would only disturb the
 * reflector.)
 */
function believe(seen: Map<string, Thing>, { old, new: present }: Change<Thing>): string | undefined {
  if (old !== undefined) {
    if (seen.get(old.metadata.name) !== old) return `${old.metadata.name}: the old state is not the one that was reported last`
    seen.delete(old.metadata.name)
  }
  if (present === undefined) return undefined
  if (old !== undefined && old.metadata.uid !== present.metadata.uid) return `${old.metadata.name}: one change, two objects`
  if (seen.has(present.metadata.name)) return `${present.metadata.name}: appeared while it was there`
  seen.set(present.metadata.name, present)
  return undefined
}

async function act(server: FakeServer, advance: (milliseconds: number) => Promise<void>, step: Step): Promise<void> {
  if (step.do === 'put') server.put(step.name, step.data)
  else if (step.do === 'remove') server.remove(step.name)
  else if (step.do === 'drop') server.drop(interruptions[step.how])
  else if (step.do === 'swap') {
    // Deleted and recreated while no watch was open.
    server.drop()
    server.remove(step.name)
    server.put(step.name, step.data)
    server.compact()
  } else if (step.do === 'repeat') server.repeat(step.back)
  else if (step.do === 'lose') server.lose()
  else if (step.do === 'bookmark') server.bookmark()
  else if (step.do === 'fail') server.failNext(2)
  else if (step.do === 'tick') await advance(20_000)
  else if (step.do === 'settle') await settle()
  else {
    server.compact()
    server.drop()
  }
}

async function check(steps: readonly Step[], heal: (site: ReturnType<typeof reflect>) => Promise<void>): Promise<void> {
  const site = reflect()
  const { server, clock, cache, stop } = site
  const seen = new Map<string, Thing>()
  cache.addIndex('data', object => [object.data ?? ''])
  const wrong: (string | undefined)[] = []
  cache.subscribe(change => wrong.push(believe(seen, change)))
  for (const step of steps) await act(server, clock.advance, step)
  await heal(site)
  const sorted = (objects: readonly Thing[]) => [...objects].sort((a, b) => a.metadata.name.localeCompare(b.metadata.name))
  expect(sorted(cache.list())).toEqual(sorted(server.objects()))
  expect(sorted([...seen.values()])).toEqual(sorted(server.objects()))
  expect(wrong.filter(Boolean)).toEqual([])
  const values = new Set(steps.map(step => ('data' in step ? step.data : '')))
  for (const value of values)
    expect(sorted(cache.byIndex('data', value))).toEqual(sorted(server.objects().filter(object => object.data === value)))
  for (const object of cache.list()) expect(Object.isFrozen(object.metadata)).toBe(true)
  await stop()
}

test('cache and listeners equal the server after any order of events, drops, failures and expired versions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(conforming, { maxLength: 40, size: 'max' }), steps =>
      check(steps, ({ clock }) => clock.advance(200_000)),
    ),
    { numRuns: 150 },
  )
})

test('a violation of the protocol is corrected within an hour, when the next watch begins with a list', async () => {
  const step: fc.Arbitrary<Step> = fc.oneof({ weight: 4, arbitrary: conforming }, { weight: 2, arbitrary: breaking })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), steps =>
      check(steps, async ({ server, clock }) => {
        await clock.advance(3_600_000)
        server.drop('ended')
        await clock.advance(60_000)
      }),
    ),
    { numRuns: 100 },
  )
})
