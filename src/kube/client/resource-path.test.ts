import { expect, test } from 'vitest'
import { things } from '../testing/objects.ts'
import { collectionPath, objectPath } from './resource-path.ts'

test('paths are built from names and never from parts of paths', () => {
  expect(objectPath(things, { namespace: 'ns', name: 'a' }, 'status')).toBe(
    '/apis/test.sekisho.dev/v1/namespaces/ns/things/a/status',
  )
  expect(collectionPath(things)).toBe('/apis/test.sekisho.dev/v1/things')
  const nodes = { apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }
  expect(objectPath(nodes, { name: 'system:Node' })).toBe('/api/v1/nodes/system%3ANode')
  for (const name of ['', '.', '..', 'a/b', '%2e%2e'])
    expect(() => objectPath(things, { namespace: 'ns', name })).toThrow(/not a valid object name/)
  expect(() => objectPath(things, { name: 'a' })).toThrow(/needs a namespace/)
  expect(() => collectionPath(nodes, 'ns')).toThrow(/cluster-wide/)
})
