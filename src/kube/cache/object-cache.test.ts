import { expect, test } from 'vitest'
import type { KubeObject } from '../../api/resource.ts'
import { memoryInUse } from '../../lib/testing/memory-in-use.ts'
import { type Thing, thing } from '../testing/objects.ts'
import { type Change, createObjectCache } from './object-cache.ts'

const key = { namespace: 'ns', name: 'a' }

function watched() {
  const cache = createObjectCache<Thing>()
  const changes: string[] = []
  const say = (object: Thing | undefined): string => (object ? `${object.metadata.uid}@${object.metadata.resourceVersion}` : '–')
  cache.subscribe(({ old, new: present, initial }: Change<Thing>) =>
    changes.push(`${say(old)} → ${say(present)}${initial ? ' (initial)' : ''}`),
  )
  return { cache, changes }
}

test('reports every difference once, and a name with a new uid as two changes', () => {
  const { cache, changes } = watched()
  cache.replace([thing('a', { uid: 'one' })])
  cache.upsert(thing('a', { uid: 'one', resourceVersion: '2' }))
  cache.upsert(thing('a', { uid: 'one', resourceVersion: '2' }))
  cache.upsert(thing('a', { uid: 'two', resourceVersion: '3' }))
  cache.remove(thing('a', { uid: 'one', resourceVersion: '4' }))
  cache.remove(thing('a', { uid: 'two', resourceVersion: '4' }))
  expect(changes).toEqual(['– → one@1 (initial)', 'one@1 → one@2', 'one@2 → –', '– → two@3', 'two@3 → –'])
  expect(cache.get(key)).toBeUndefined()
})

test('a late event reverts nothing, but a list replaces everything', () => {
  const { cache } = watched()
  cache.replace([thing('a', { resourceVersion: '100' }, 'new')])
  cache.upsert(thing('a', { resourceVersion: '99' }, 'old'))
  expect(cache.get(key)?.data).toBe('new')
  cache.upsert(thing('a', { resourceVersion: 'not-a-number' }, 'other'))
  expect(cache.get(key)?.data).toBe('other')
  // A server that was restored from a backup continues with lower numbers.
  cache.replace([thing('a', { resourceVersion: '7' }, 'restored')])
  expect(cache.get(key)?.data).toBe('restored')
})

test('cached objects are frozen deeply and lack the bookkeeping that no reader uses', () => {
  const { cache } = watched()
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', keep: 'yes' }
  const given = {
    ...thing('a', { annotations }),
    metadata: { ...thing('a', { annotations }).metadata, managedFields: [{ manager: 'x' }] },
  }
  cache.upsert(given)
  const held = cache.get(key)
  expect(held?.metadata).not.toHaveProperty('managedFields')
  expect(held?.metadata.annotations).toEqual({ keep: 'yes' })
  expect(Object.isFrozen(held?.metadata.annotations)).toBe(true)
  // The caller's object is unchanged.
  expect(given.metadata.managedFields).toHaveLength(1)
})

test('an index follows its objects, also when it was added after them', () => {
  const { cache } = watched()
  cache.upsert(thing('a', {}, 'red'))
  const color = (object: Thing) => [object.data ?? '']
  cache.addIndex('color', color)
  cache.addIndex('color', color)
  cache.upsert(thing('b', {}, 'red'))
  cache.upsert(thing('a', { resourceVersion: '2' }, 'blue'))
  const names = (color: string) => cache.byIndex('color', color).map(({ metadata }) => metadata.name)
  expect([names('red'), names('blue'), names('green')]).toEqual([['b'], ['a'], []])
  cache.remove(thing('b'))
  expect(names('red')).toEqual([])
  expect(() => cache.addIndex('color', () => [])).toThrow(/index color already exists/)
})

/**
 * An Application as the API server sends it after a build and a rollout, with the two fields that are twice as large as the
 * rest.
 */
function application(index: number): string {
  const image = `registry.example/team-${index % 50}/app-${index}@sha256:${'0'.repeat(64)}`
  const commit = index.toString(16).padStart(40, '0')
  const spec = {
    image,
    commit,
    chart: 'web',
    processes: [{ name: 'web', port: 8080, replicas: 1, healthPath: '/healthz', cpu: '50m', memory: '256Mi' }],
    env: [{ name: 'GREETING', value: `hello from ${index}` }],
  }
  const condition = (type: string, reason: string) => ({
    type,
    status: 'True',
    reason,
    message: `app-${index} runs as it should`,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 3,
  })
  const status = {
    url: `https://app-${index}.example.com`,
    image,
    commit,
    appliedAt: '2026-01-01T00:00:00Z',
    availableAt: '2026-01-01T00:00:05Z',
    conditions: [condition('Applied', 'Applied'), condition('Ready', 'Available')],
    inventory: [
      { apiVersion: 'apps/v1', kind: 'Deployment', name: `app-${index}` },
      { apiVersion: 'v1', kind: 'Service', name: `app-${index}` },
      { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: `app-${index}` },
    ],
  }
  const managedFields = ['kubectl', 'sekisho-application', 'sekisho-status'].map(manager => ({
    manager,
    operation: 'Apply',
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f:field-${at}`, { 'f:name': {}, '.': {} }])),
  }))
  return JSON.stringify({
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: {
      name: `app-${index}`,
      namespace: `team-${index % 50}`,
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      resourceVersion: String(100_000 + index),
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'app.kubernetes.io/name': `app-${index}` },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ spec }) },
      finalizers: ['sekisho.dev/application'],
      managedFields,
    },
    spec,
    status,
  })
}

test('ten thousand Applications take at most 2 MB of heap per thousand', () => {
  const cache = createObjectCache<KubeObject>()
  cache.addIndex('namespace', object => [object.metadata.namespace ?? ''])
  const before = memoryInUse().heapUsed
  for (let index = 0; index < 10_000; index++) cache.upsert(JSON.parse(application(index)) as KubeObject)
  const megabytes = (memoryInUse().heapUsed - before) / 10 / 1_048_576
  expect(cache.size()).toBe(10_000)
  expect(megabytes).toBeLessThanOrEqual(2)
  // So that the objects are still in use when the figure above is taken.
  expect(megabytes).toBeGreaterThan(0.2)
  // The test bounds memory, not the time that it takes to build ten thousand objects.
})
