import { expect, test } from 'vitest'
import type { KubeObject, ObjectKey } from '../../api/resource.ts'
import { keyText } from '../../api/resource.ts'
import type { Change } from '../cache/object-cache.ts'
import { controllingKey, ownerReference } from '../object/owner.ts'
import { type Thing, thing, things } from '../testing/objects.ts'
import { type Watch, watches, watchOwned } from './handlers.ts'
import { type Predicate, partChanged } from './predicates.ts'

function woken(watch: Watch, change: Omit<Change<KubeObject>, 'initial'>): string[] {
  const keys: string[] = []
  const source = {
    subscribe: (_type: unknown, _scope: unknown, listener: (change: never) => void) =>
      listener({ ...change, initial: false } as never),
  }
  watch.attach(source, (key: ObjectKey) => keys.push(keyText(key)))
  return keys
}

const child = (name: string, owner: Thing): Thing =>
  thing(name, { ownerReferences: [ownerReference(owner, { controller: true })] })

test('a child triggers its owner, and a child that moved triggers both', () => {
  const owned = watchOwned(things, things)
  expect(woken(owned, { new: child('c', thing('a')) })).toEqual(['ns/a'])
  expect(woken(owned, { old: child('c', thing('a')), new: child('c', thing('b')) })).toEqual(['ns/a', 'ns/b'])
  expect(woken(owned, { old: child('c', thing('a')), new: child('c', thing('a')) })).toEqual(['ns/a'])
  expect(woken(owned, { old: child('c', thing('a')) })).toEqual(['ns/a'])
  expect(woken(owned, { new: thing('c') })).toEqual([])
})

test('only a controller reference of the same group and kind counts, whatever its version', () => {
  const owner = thing('a')
  const reference = ownerReference(owner, { controller: true })
  const keyFor = (changes: object) => controllingKey(thing('c', { ownerReferences: [{ ...reference, ...changes }] }), things)
  expect(keyFor({})).toEqual({ namespace: 'ns', name: 'a' })
  expect(keyFor({ apiVersion: 'test.sekisho.dev/v2' })).toEqual({ namespace: 'ns', name: 'a' })
  expect(keyFor({ controller: false })).toBeUndefined()
  expect(keyFor({ kind: 'Other' })).toBeUndefined()
  expect(keyFor({ apiVersion: 'v1' })).toBeUndefined()
  const { uid: _, ...metadata } = owner.metadata
  expect(() => ownerReference({ ...owner, metadata }, { controller: true })).toThrow(/has no uid/)
})

test('a mapped watch triggers the keys of its mapping, filtered by its predicate', () => {
  const predicate: Predicate<Thing> = partChanged(object => object.data)
  const mapped = watches(things, object => [{ name: object.data ?? '' }, { name: 'all' }], { predicate })
  expect(woken(mapped, { old: thing('x', {}, 'one'), new: thing('x', {}, 'two') })).toEqual(['one', 'all', 'two'])
  expect(woken(mapped, { old: thing('x', {}, 'one'), new: thing('x', { labels: { a: 'b' } }, 'one') })).toEqual([])
  expect(woken(mapped, { old: thing('x', {}, 'one') })).toEqual(['one', 'all'])
})
