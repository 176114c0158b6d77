// What wakes a controller: its own objects, the children it owns, and objects that map to its keys. Each answers with keys only.
// Old and new state both count, so that an object that moves from one owner to another wakes both.
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import type { CacheScope, Change, ChangeSource } from '../cache/object-cache.ts'
import { controllingKey } from '../object/owner.ts'
import { type Predicate, specOrMetadataChanged } from './predicates.ts'

export type WatchFilter<T extends KubeObject> = CacheScope & { readonly predicate?: Predicate<T> }

export type EnqueueKey = (key: ObjectKey, change: Change<KubeObject>) => void

/** One source of wake-ups, ready to be attached; it hides the type of the objects it sees. */
export type Watch = { readonly attach: (source: ChangeSource, enqueue: EnqueueKey) => void }

/** Wakes the keys that `keys` finds for a changed object. `keys` must be quick and must not throw. */
export function watches<T extends KubeObject>(
  type: ResourceType<T>,
  keys: (object: T) => readonly ObjectKey[],
  filter: WatchFilter<T> = {},
): Watch {
  const { predicate, ...scope } = filter
  return {
    attach: (source, enqueue) =>
      source.subscribe(type, scope, change => {
        if (predicate && !predicate(change)) return
        const found = new Map<string, ObjectKey>()
        for (const object of [change.old, change.new]) {
          if (object === undefined) continue
          for (const key of keys(object)) found.set(keyText(key), key)
        }
        for (const key of found.values()) enqueue(key, change)
      }),
  }
}

export function watchSelf(type: ResourceType, wakesOnStatus: boolean): Watch {
  return watches(type, object => [keyOf(object)], wakesOnStatus ? {} : { predicate: specOrMetadataChanged })
}

export function watchOwned(child: ResourceType, owner: ResourceType, labelSelector?: string): Watch {
  const keys = (object: KubeObject): readonly ObjectKey[] => {
    const key = controllingKey(object, owner)
    return key === undefined ? [] : [key]
  }
  return watches(child, keys, labelSelector === undefined ? {} : { labelSelector })
}
