// The local copy of one kind's objects: key → frozen object, with indexes. Listeners receive every difference as {old, new}; an
// object that was deleted and recreated under the same name (another uid) is two changes. It never sends requests.
import { keptObject } from '../../api/kept-object.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import { AppError } from '../../lib/errors.ts'
import { createFreezer } from './freeze.ts'
import { createMultimap, type Multimap } from './multimap.ts'

/** Which objects of a kind a cache holds. Without a namespace it holds what tenants wrote, of bounded size (`keptObject`). */
export type CacheScope = { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string }

/**
 * `old` is absent for a new object, `new` for a deleted one. `initial`: the object comes from the first list, so it is not
 * urgent.
 */
export type Change<T extends KubeObject> = { readonly old?: T; readonly new?: T; readonly initial: boolean }

export type Listener<T extends KubeObject> = (change: Change<T>) => void

/** Passes every change of the objects in a scope to the listener, beginning with the objects that exist. */
export type ChangeSource = {
  readonly subscribe: <T extends KubeObject>(type: ResourceType<T>, scope: CacheScope, listener: Listener<T>) => void
}

/**
 * The read side. Objects are deeply frozen, lack `managedFields` and kubectl's last-applied copy, and may lag behind the
 * server.
 */
export type Cache<T extends KubeObject> = {
  readonly get: (key: ObjectKey) => T | undefined
  readonly list: (namespace?: string) => readonly T[]
  /** Makes objects available through `byIndex`. `values` must be pure; throws when another function has the name. */
  readonly addIndex: (name: string, values: (object: T) => readonly string[]) => void
  /** Throws when there is no index of that name. */
  readonly byIndex: (name: string, value: string) => readonly T[]
  /** True from the first list on. */
  readonly synced: () => boolean
}

/** The write side, for the reflector. */
export type ObjectCache<T extends KubeObject> = Cache<T> & {
  /** Makes the cache equal to a list of the server, whatever it held before. */
  readonly replace: (items: readonly T[]) => void
  /** Stores the object of an event unless the cache holds a newer version: a late event reverts nothing. */
  readonly upsert: (object: T) => void
  /** Removes any version of this object, but not an object with another uid under the same name. */
  readonly remove: (object: T) => void
  readonly subscribe: (listener: Listener<T>) => void
  /** What is kept of an object. */
  readonly keep: (object: T) => T
  readonly size: () => number
}

type Index<T> = { readonly values: (object: T) => readonly string[]; readonly keys: Multimap }

/** An empty cache. `maxContent` bounds each object of a built-in kind, in characters. */
export function createObjectCache<T extends KubeObject>(maxContent?: number): ObjectCache<T> {
  const keep = (object: T): T => keptObject(object, maxContent)
  const objects = new Map<string, T>()
  const freeze = createFreezer()
  const indexes = new Map<string, Index<T>>()
  const listeners: Listener<T>[] = []
  let synced = false

  const notify = (change: Change<T>): void => {
    for (const listener of listeners) listener(change)
  }

  function updateIndex({ values, keys }: Index<T>, key: string, object: T, operation: 'add' | 'delete'): void {
    for (const value of values(object)) keys[operation](value, key)
  }

  function put(object: T): void {
    const key = keyText(keyOf(object))
    const held = objects.get(key)
    if (held !== undefined && held.metadata.uid !== object.metadata.uid) drop(key, held)
    else if (held !== undefined && held.metadata.resourceVersion === object.metadata.resourceVersion) return
    const kept = freeze(keep(object))
    const old = objects.get(key)
    for (const index of indexes.values()) {
      if (old !== undefined) updateIndex(index, key, old, 'delete')
      updateIndex(index, key, kept, 'add')
    }
    objects.set(key, kept)
    notify({ ...(old === undefined ? {} : { old }), new: kept, initial: !synced })
  }

  function drop(key: string, old: T): void {
    objects.delete(key)
    for (const index of indexes.values()) updateIndex(index, key, old, 'delete')
    notify({ old, initial: false })
  }

  return {
    get: key => objects.get(keyText(key)),
    list(namespace) {
      return [...objects.values()].filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
    },
    addIndex(name, values) {
      const present = indexes.get(name)
      if (present?.values === values) return
      if (present !== undefined) throw new AppError('internal', `index ${name} already exists`)
      const added: Index<T> = { values, keys: createMultimap() }
      indexes.set(name, added)
      for (const [key, object] of objects) updateIndex(added, key, object, 'add')
    },
    byIndex(name, value) {
      const found = indexes.get(name)
      if (found === undefined) throw new AppError('internal', `index ${name} does not exist`)
      return found.keys.get(value).flatMap(key => objects.get(key) ?? [])
    },
    synced: () => synced,
    keep,
    size: () => objects.size,
    replace(items) {
      const present = new Set(items.map(item => keyText(keyOf(item))))
      for (const [key, old] of [...objects]) if (!present.has(key)) drop(key, old)
      for (const item of items) put(item)
      synced = true
    },
    upsert(object) {
      const held = objects.get(keyText(keyOf(object)))
      if (held === undefined || !isOlder(object.metadata.resourceVersion, held.metadata.resourceVersion)) put(object)
    },
    remove(object) {
      const key = keyText(keyOf(object))
      const old = objects.get(key)
      if (old !== undefined && old.metadata.uid === object.metadata.uid) drop(key, old)
    },
    subscribe(listener) {
      listeners.push(listener)
      for (const object of objects.values()) listener({ new: object, initial: true })
    },
  }
}

/**
 * Resource versions are increasing decimal numbers per kind (Kubernetes API concepts, "Resource versions"); anything else is
 * not older.
 */
function isOlder(version = '', held = ''): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(held)) return false
  return version.length === held.length ? version < held : version.length < held.length
}
