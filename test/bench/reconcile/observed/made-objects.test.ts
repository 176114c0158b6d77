// Two sides did the same work when they made as many objects with the same fields.
import { expect, test } from 'vitest'
import { createSameWork, differences, fieldsOf, madeKind } from './made-objects.ts'

const service = (name: string) => ({ metadata: { name }, spec: { ports: [{ name: 'http', port: 80 }, { port: 81 }] } })

test('fields are named by their path, those of all items of a list together', () => {
  expect(fieldsOf({ spec: { ports: service('a').spec.ports, type: 'ClusterIP', empty: [] } })).toEqual([
    'spec.ports[].name',
    'spec.ports[].port',
    'spec.type',
  ])
})

test('other names and values are the same work; a missing object, kind or field is not', () => {
  const ours = { services: madeKind([service('a'), service('b')]) }
  expect(differences(ours, { services: madeKind([service('c'), service('d')]) })).toEqual([])
  expect(differences(ours, { services: madeKind([service('a')]) })).toEqual(['services: ours made 2, the peer 1'])
  expect(differences({ ...ours, releases: madeKind([{ spec: { number: 1 } }]) }, ours)).toEqual([
    'releases: ours made 1, the peer 0',
    'releases: only ours has spec.number',
  ])
  const more = { ...service('d'), status: { replicas: 0 } }
  expect(differences(ours, { services: madeKind([more, service('d')]) })).toEqual(['services: only the peer has status.replicas'])
})

test('a comparison ends when the second side has made something else', () => {
  const check = createSameWork()
  const [one, two] = [{ services: madeKind([service('a')]) }, { services: madeKind([service('a'), service('b')]) }]
  check('peer', one)
  check('ours', one)
  expect(() => check('ours', two)).toThrow('the sides do not do the same work: services: ours made 2, the peer 1')
})
