import { expect, test } from 'vitest'
import { kinds } from '../../api/registry.ts'
import * as named from './kinds.ts'

test.each(Object.values(named).map(type => [type.kind, type] as const))('%s has the names of the registry', (_, type) => {
  const { apiVersion, kind, plural, namespaced } = type
  const known = kinds.find(one => one.kind === kind)
  expect(known).toMatchObject({ apiVersion, plural, namespaced })
})
