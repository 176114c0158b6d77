// Whose child an object is: by kind, group and uid of what controls it.
import { expect, test } from 'vitest'
import { appPipeline } from '../../../api/apps/app-pipeline.ts'
import type { KubeObject } from '../../../api/resource.ts'
import { addOwnedIndex } from './owned.ts'

function uidsOf(owner: object): readonly string[] {
  let found: readonly string[] = []
  const child = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', namespace: 'acme', ownerReferences: [owner] } }
  addOwnedIndex(
    { addIndex: (_: string, of: (one: KubeObject) => readonly string[]) => (found = of(child as never)) } as never,
    appPipeline,
  )
  return found
}
const owner = { apiVersion: appPipeline.apiVersion, kind: appPipeline.kind, name: 'shop', uid: 'u', controller: true }

test('an owner of the kind controls it; one of that kind in another group, and one that does not control it, do not', () => {
  expect(uidsOf(owner)).toEqual(['u'])
  expect(uidsOf({ ...owner, apiVersion: 'example.com/v1' })).toEqual([])
  expect(uidsOf({ ...owner, controller: false })).toEqual([])
})
