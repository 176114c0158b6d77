// Which Services kube-proxy is to serve.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide, type Facts, type ServiceFacts } from './decide.ts'

const service = (name: string, changes: Partial<ServiceFacts> = {}): ServiceFacts => ({
  name,
  uid: name,
  resourceVersion: '1',
  createdAt: '2026-01-01T00:00:00Z',
  ofApplication: false,
  ports: 4,
  endpoints: 200,
  count: 'complete',
  proxied: true,
  label: 'none',
  ...changes,
})

const signs = { beyond: '+', again: '?', served: '-' }

/** The names that get the label (`+`), those that lose it (`-`), and those whose slices are looked at again (`?`). */
function changesOf(services: readonly ServiceFacts[], maxPairs = 4000): readonly string[] {
  return decide({ services, maxPairs, maxPods: 200 }).changes.map(({ service: { name }, to }) => `${signs[to]}${name}`)
}

const labels = { beyond: 'beyond', again: 'new', served: 'none' } as const

/** What is left when the changes are made; a count is as it was. */
function settled(facts: Facts): Facts {
  const changed = new Map(decide(facts).changes.map(({ service: { uid }, to }) => [uid, labels[to]]))
  return { ...facts, services: facts.services.map(one => ({ ...one, label: changed.get(one.uid) ?? one.label })) }
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
    const labelled = { label: 'beyond' } as const
    expect(changesOf([service('a', { ...labelled, endpoints: 2 }), service('b', { ...labelled, proxied: false })])).toEqual([
      '-a',
      '-b',
    ])
  })

  test('get the label before others lose it', () => {
    const older = { createdAt: '2025-01-01T00:00:00Z' }
    const services = [service('back', { ...older, label: 'beyond' }), service('grown', { endpoints: 800 })]
    expect(changesOf(services, 800)).toEqual(['+grown', '-back'])
  })
})

describe('a Service that is not counted', () => {
  const unknown = { label: 'changed', count: 'none', endpoints: 0 } as const

  test('is left as it is, and is looked at again when its first slices are there', () => {
    expect(changesOf([service('a', unknown), service('b', { ...unknown, label: 'new', count: 'begun' })])).toEqual(['?b'])
  })

  test('is served when it is counted and fits, and is beyond the bound otherwise', () => {
    expect(changesOf([service('a', { label: 'new' }), service('b', { label: 'changed' })], 800)).toEqual(['+b', '-a'])
  })

  test('keeps no younger one waiting that fits even with all pods behind it, nor one of an Application', () => {
    expect(changesOf([service('a', unknown), service('b', { label: 'new' })], 1600)).toEqual(['-b'])
    expect(changesOf([service('a', unknown), service('b', { label: 'new' })], 1599)).toEqual([])
    expect(changesOf([service('a', unknown), service('b', { label: 'new', ofApplication: true })], 800)).toEqual(['-b'])
  })

  test('takes nothing from what is served', () => {
    expect(changesOf([service('a', unknown), service('b')], 800)).toEqual([])
  })
})

const anyService = fc.record({
  uid: fc.uuid(),
  resourceVersion: fc.constant('1'),
  createdAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
  ofApplication: fc.boolean(),
  ports: fc.nat({ max: 4 }),
  endpoints: fc.nat({ max: 300 }),
  count: fc.constantFrom('none' as const, 'begun' as const, 'complete' as const),
  proxied: fc.boolean(),
  label: fc.constantFrom('none' as const, 'new' as const, 'changed' as const, 'beyond' as const),
})
const anyFacts = fc.record({
  services: fc.uniqueArray(anyService, { selector: ({ uid }) => uid, maxLength: 20 }).map(list => list.map(factsOf)),
  maxPairs: fc.nat({ max: 4000 }),
  maxPods: fc.constant(300),
})

/** Only what waits for its count is not counted. */
function factsOf(one: Omit<ServiceFacts, 'name'>): ServiceFacts {
  const waits = one.proxied && (one.label === 'new' || one.label === 'changed')
  return { name: one.uid, ...one, count: waits ? one.count : 'complete' }
}

const servedOf = ({ services }: Facts): readonly ServiceFacts[] => services.filter(one => one.proxied && one.label === 'none')

test('what is served is within the bound, nothing uncounted is, and a second run changes nothing', () => {
  fc.assert(
    fc.property(anyFacts, facts => {
      const after = settled(facts)
      expect(servedOf(after).reduce((sum, { ports, endpoints }) => sum + ports * endpoints, 0)).toBeLessThanOrEqual(
        facts.maxPairs,
      )
      expect(servedOf(after).filter(({ count }) => count !== 'complete')).toEqual([])
      expect(decide(after).changes.filter(({ to }) => to !== 'again')).toEqual([])
    }),
  )
})

test('when all are counted, neither order nor labels decide', () => {
  fc.assert(
    fc.property(anyFacts, fc.constantFrom('none' as const, 'new' as const, 'beyond' as const), (facts, label) => {
      const counted: Facts = { ...facts, services: facts.services.map(one => ({ ...one, count: 'complete' })) }
      const shuffled = counted.services.toReversed().map(one => ({ ...one, label }))
      const beyond = (of: Facts): readonly string[] =>
        settled(of)
          .services.filter(one => one.label === 'beyond')
          .map(({ uid }) => uid)
          .toSorted()
      expect(beyond({ ...counted, services: shuffled })).toEqual(beyond(counted))
    }),
  )
})
