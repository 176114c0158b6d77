// Which Services are beyond the bound.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide, type Facts, type ServiceFacts } from './decide.ts'

const service = (name: string, changes: Partial<ServiceFacts> = {}): ServiceFacts => ({
  name,
  uid: name,
  createdAt: '2026-01-01T00:00:00Z',
  ofApplication: false,
  ports: 4,
  endpoints: 200,
  counted: true,
  proxied: true,
  labelled: false,
  ...changes,
})

/** The names that get the label (`+`) and those that lose it (`-`). */
function changesOf(services: readonly ServiceFacts[], mostPairs = 4000): readonly string[] {
  return decide({ services, mostPairs }).changes.map(({ service: { name }, beyond }) => `${beyond ? '+' : '-'}${name}`)
}

/** What is left when the changes are made. */
function settled({ services, mostPairs }: Facts): Facts {
  const { changes } = decide({ services, mostPairs })
  const changed = new Map(changes.map(({ service: { uid }, beyond }) => [uid, beyond]))
  return { services: services.map(one => ({ ...one, labelled: changed.get(one.uid) ?? one.labelled })), mostPairs }
}

describe('the Services beyond the bound', () => {
  test('are none of a hundred Applications with two pods and two ports', () => {
    const usual = Array.from({ length: 100 }, (_, index) => service(`s${index}`, { endpoints: 2, ports: 2 }))
    expect(changesOf(usual)).toEqual([])
  })

  test('are those that do not fit: five of a hundred with four ports and two hundred pods remain', () => {
    const names = Array.from({ length: 100 }, (_, index) => `s${String(index).padStart(2, '0')}`)
    expect(changesOf(names.map(name => service(name)))).toEqual(names.slice(5).map(name => `+${name}`))
  })

  test('are the younger ones, by uid where two are as old', () => {
    const old = service('z', { createdAt: '2025-12-31T23:59:59Z' })
    expect(changesOf([service('b'), service('a'), old], 1600)).toEqual(['+b'])
  })

  test('are those of the tenant before those of Applications', () => {
    const own = service('own', { createdAt: '2020-01-01T00:00:00Z' })
    expect(changesOf([own, service('app', { ofApplication: true })], 800)).toEqual(['+own'])
  })

  test('are not those behind a larger one that still fit', () => {
    const [large, small] = [service('a', { endpoints: 1001 }), service('b', { endpoints: 1 })]
    expect(changesOf([large, small])).toEqual(['+a'])
  })

  test('are none that kube-proxy does not serve, and these take nothing from others', () => {
    expect(changesOf([service('a', { proxied: false, endpoints: 5000 }), service('b')], 800)).toEqual([])
  })

  test('lose the label when they fit, also where it has no effect any more', () => {
    const labelled = { labelled: true }
    expect(changesOf([service('a', { ...labelled, endpoints: 2 }), service('b', { ...labelled, proxied: false })])).toEqual([
      '-a',
      '-b',
    ])
  })

  test('get the label before others lose it', () => {
    const older = { createdAt: '2025-01-01T00:00:00Z' }
    const services = [service('back', { ...older, labelled: true }), service('grown', { endpoints: 800 })]
    expect(changesOf(services, 800)).toEqual(['+grown', '-back'])
  })
})

const anyService = fc.record({
  uid: fc.uuid(),
  createdAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
  ofApplication: fc.boolean(),
  ports: fc.nat({ max: 4 }),
  endpoints: fc.nat({ max: 300 }),
  counted: fc.boolean(),
  proxied: fc.boolean(),
  labelled: fc.boolean(),
})
const anyFacts = fc.record({
  services: fc
    .uniqueArray(anyService, { selector: ({ uid }) => uid, maxLength: 20 })
    .map(list => list.map((one): ServiceFacts => ({ name: one.uid, ...one }))),
  mostPairs: fc.nat({ max: 4000 }),
})

test('what keeps its place is within the bound, a second run changes nothing, and neither order nor labels decide', () => {
  fc.assert(
    fc.property(anyFacts, fc.boolean(), (facts, labelled) => {
      const after = settled(facts)
      const served = after.services.filter(one => one.proxied && !one.labelled)
      expect(served.reduce((sum, { ports, endpoints }) => sum + ports * endpoints, 0)).toBeLessThanOrEqual(facts.mostPairs)
      expect(decide(after).changes).toEqual([])
      const shuffled = facts.services.toReversed().map(one => ({ ...one, labelled }))
      const beyond = (of: Facts): readonly string[] =>
        settled(of)
          .services.filter(one => one.labelled)
          .map(({ uid }) => uid)
          .toSorted()
      expect(beyond({ ...facts, services: shuffled })).toEqual(beyond(facts))
    }),
  )
})
