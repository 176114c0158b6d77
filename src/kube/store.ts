// The local copy of one kind's objects: key → frozen object, with indexes, telling listeners every difference as {old, new}.
// A name that passed to another uid is two changes: the old object went, a new one came. It never talks to the server.
import type { KubeObject, ObjectKey } from '../api/resource.ts'
import { keyOf, keyText } from '../api/resource.ts'
import { AppError } from '../lib/errors.ts'
import { deepFreeze } from './deep-freeze.ts'

/** Which objects of a kind a cache holds. */
export type CacheScope = { readonly namespace?: string; readonly labelSelector?: string }

/** `old` absent: appeared; `new` absent: vanished. `initial`: found by the first list, so nobody is waiting for it right now. */
export type Change<T extends KubeObject> = { readonly old?: T; readonly new?: T; readonly initial: boolean }

/** What readers see. Objects are deeply frozen and carry no `managedFields`. Reads may be behind the server by a moment. */
export type Cache<T extends KubeObject> = {
  readonly get: (key: ObjectKey) => T | undefined
  readonly list: (namespace?: string) => readonly T[]
  /** Objects found later by `byIndex`. `values` must be pure. The same name twice is an error. */
  readonly addIndex: (name: string, values: (object: T) => readonly string[]) => void
  readonly byIndex: (name: string, value: string) => readonly T[]
  /** True once the first list is in; stays true. */
  readonly synced: () => boolean
}

export type ObjectStore<T extends KubeObject> = Cache<T> & {
  /** Makes the store equal to a list of the server. */
  readonly replace: (items: readonly T[]) => void
  readonly upsert: (object: T) => void
  /** Also when a copy with another state is held; not when another uid has the name by now. */
  readonly remove: (object: T) => void
  readonly subscribe: (listener: (change: Change<T>) => void) => void
}

type Index<T> = { readonly values: (object: T) => readonly string[]; readonly keys: Map<string, Set<string>> }

export function createObjectStore<T extends KubeObject>(): ObjectStore<T> {
  const objects = new Map<string, T>()
  const indexes = new Map<string, Index<T>>()
  const listeners: ((change: Change<T>) => void)[] = []
  let synced = false

  const tell = (change: Change<T>): void => {
    for (const listener of listeners) listener(change)
  }

  function index(key: string, object: T, how: 'add' | 'drop'): void {
    for (const { values, keys } of indexes.values()) {
      for (const value of values(object)) {
        const held = keys.get(value) ?? new Set()
        if (how === 'add') keys.set(value, held.add(key))
        else if (held.delete(key) && held.size === 0) keys.delete(value)
      }
    }
  }

  function put(object: T): void {
    const key = keyText(keyOf(object))
    const old = objects.get(key)
    if (old !== undefined && old.metadata.uid !== object.metadata.uid) drop(key, old)
    else if (old !== undefined && old.metadata.resourceVersion === object.metadata.resourceVersion) return
    const kept = deepFreeze(withoutManagedFields(object))
    const previous = objects.get(key)
    if (previous !== undefined) index(key, previous, 'drop')
    objects.set(key, kept)
    index(key, kept, 'add')
    tell({ ...(previous === undefined ? {} : { old: previous }), new: kept, initial: !synced })
  }

  function drop(key: string, old: T): void {
    objects.delete(key)
    index(key, old, 'drop')
    tell({ old, initial: false })
  }

  return {
    get: key => objects.get(keyText(key)),
    list(namespace) {
      const all = [...objects.values()]
      return namespace === undefined ? all : all.filter(object => object.metadata.namespace === namespace)
    },
    addIndex(name, values) {
      if (indexes.has(name)) throw new AppError('internal', `there is an index ${name} already`)
      const added: Index<T> = { values, keys: new Map() }
      indexes.set(name, added)
      for (const [key, object] of objects)
        for (const value of values(object)) added.keys.set(value, (added.keys.get(value) ?? new Set()).add(key))
    },
    byIndex(name, value) {
      const found = indexes.get(name)
      if (found === undefined) throw new AppError('internal', `there is no index ${name}`)
      return [...(found.keys.get(value) ?? [])].map(key => objects.get(key)).filter(object => object !== undefined)
    },
    synced: () => synced,
    replace(items) {
      const present = new Set(items.map(item => keyText(keyOf(item))))
      for (const [key, old] of [...objects]) if (!present.has(key)) drop(key, old)
      for (const item of items) put(item)
      synced = true
    },
    upsert: put,
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

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!('managedFields' in object.metadata)) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
