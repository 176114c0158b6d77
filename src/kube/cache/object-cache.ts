// The local copy of one kind's objects: key → frozen object, with indexes, telling listeners every difference as {old, new}.
// A name that passed to another uid is two changes: the old object went, a new one came. It never talks to the server.
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import { AppError } from '../../lib/errors.ts'
import { createFreezer } from './freeze.ts'
import { createMultimap, type Multimap } from './multimap.ts'

/** Which objects of a kind a cache holds. */
export type CacheScope = { readonly namespace?: string; readonly labelSelector?: string }

/** `old` absent: appeared; `new` absent: vanished. `initial`: found by the first list, so nobody is waiting for it right now. */
export type Change<T extends KubeObject> = { readonly old?: T; readonly new?: T; readonly initial: boolean }

/** Where changes come from: the local copies. */
export type ChangeSource = {
  readonly subscribe: <T extends KubeObject>(
    type: ResourceType<T>,
    scope: CacheScope,
    listener: (change: Change<T>) => void,
  ) => void
}

/** What readers see: deeply frozen, without `managedFields` and kubectl's last-applied copy, perhaps a moment behind the server. */
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
  /** Makes the store equal to a list of the server, whatever was held. */
  readonly replace: (items: readonly T[]) => void
  /** Takes an event's object, unless a newer state of it is held: an event that comes late undoes nothing. */
  readonly upsert: (object: T) => void
  /** Also when a copy with another state is held; not when another uid has the name by now. */
  readonly remove: (object: T) => void
  readonly subscribe: (listener: (change: Change<T>) => void) => void
  readonly size: () => number
}

type Index<T> = { readonly values: (object: T) => readonly string[]; readonly keys: Multimap }

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

export function createObjectStore<T extends KubeObject>(): ObjectStore<T> {
  const objects = new Map<string, T>()
  const freeze = createFreezer()
  const indexes = new Map<string, Index<T>>()
  const listeners: ((change: Change<T>) => void)[] = []
  let synced = false

  const tell = (change: Change<T>): void => {
    for (const listener of listeners) listener(change)
  }

  function indexed({ values, keys }: Index<T>, key: string, object: T, how: 'add' | 'delete'): void {
    for (const value of values(object)) keys[how](value, key)
  }

  function put(object: T): void {
    const key = keyText(keyOf(object))
    const held = objects.get(key)
    if (held !== undefined && held.metadata.uid !== object.metadata.uid) drop(key, held)
    else if (held !== undefined && held.metadata.resourceVersion === object.metadata.resourceVersion) return
    const kept = freeze(slim(object))
    const old = objects.get(key)
    for (const index of indexes.values()) {
      if (old !== undefined) indexed(index, key, old, 'delete')
      indexed(index, key, kept, 'add')
    }
    objects.set(key, kept)
    tell({ ...(old === undefined ? {} : { old }), new: kept, initial: !synced })
  }

  function drop(key: string, old: T): void {
    objects.delete(key)
    for (const index of indexes.values()) indexed(index, key, old, 'delete')
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
      const added: Index<T> = { values, keys: createMultimap() }
      indexes.set(name, added)
      for (const [key, object] of objects) indexed(added, key, object, 'add')
    },
    byIndex(name, value) {
      const found = indexes.get(name)
      if (found === undefined) throw new AppError('internal', `there is no index ${name}`)
      return found.keys
        .get(value)
        .map(key => objects.get(key))
        .filter(object => object !== undefined)
    },
    synced: () => synced,
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

/** Decimal numbers of one series per kind (Kubernetes API concepts, "Resource versions"); anything else compares as not older. */
function isOlder(version = '', held = ''): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(held)) return false
  return version.length === held.length ? version < held : version.length < held.length
}

/** Without the bookkeeping that nobody here reads: two thirds of a typical object's size. */
function slim<T extends KubeObject>(object: T): T {
  const { annotations } = object.metadata
  if (!('managedFields' in object.metadata) && annotations?.[lastApplied] === undefined) return object
  const { managedFields: _, ...metadata }: T['metadata'] & { readonly managedFields?: unknown } = object.metadata
  if (annotations?.[lastApplied] === undefined) return { ...object, metadata }
  const { [lastApplied]: __, ...others } = annotations
  return { ...object, metadata: { ...metadata, annotations: others } }
}
