import { expect, test } from 'vitest'
import type { KubeObject } from '../api/resource.ts'
import { createOwnWrites } from './own-writes.ts'

function object(resourceVersion: string, uid = 'u'): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid, resourceVersion } }
}

test('our write counts while the cache is behind, and no longer once it has caught up', () => {
  const writes = createOwnWrites<KubeObject>()
  writes.remember(object('10'))
  expect(writes.latest(object('9'))).toEqual(object('10'))
  expect(writes.latest(object('10'))).toEqual(object('10'))
  expect(writes.latest(object('9'))).toEqual(object('9'))
})

test('an object of another uid, or with a version that is no number, is taken as cached', () => {
  const writes = createOwnWrites<KubeObject>()
  writes.remember(object('10'))
  expect(writes.latest(object('9', 'other'))).toEqual(object('9', 'other'))
  expect(writes.latest(object('x'))).toEqual(object('x'))
})
