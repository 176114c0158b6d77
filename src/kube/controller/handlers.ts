// What triggers a controller: its own objects, the children they own, and other objects that map to its keys. The result is
// always keys. Both the old and the new state count, so that a child that moves from one owner to another triggers both.
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import type { CacheScope, Change, ChangeSource } from '../cache/object-cache.ts'
import { controllingKey } from '../object/owner.ts'
import { type Predicate, specOrMetadataChanged } from './predicates.ts'

export type WatchFilter<T extends KubeObject> = CacheScope & { readonly predicate?: Predicate<T> }

export type EnqueueKey = (key: ObjectKey, change: Pick<Change<KubeObject>, 'initial'>) => void

/** One source of keys, ready to be attached; it hides the type of the objects that it watches. */
export type Watch = { readonly attach: (source: ChangeSource, enqueue: EnqueueKey) => void }

/** Triggers the keys that `keys` returns for a changed object. `keys` must be quick and must not throw. */
export function watches<T extends KubeObject>(
  type: ResourceType<T>,
  keys: (object: T) => readonly ObjectKey[],
  filter: WatchFilter<T> = {},
): Watch {
  const { predicate = () => true, ...scope } = filter
  const keysOf = (object: T | undefined): readonly ObjectKey[] => (object === undefined ? [] : keys(object))
  return {
    attach: (source, enqueue) =>
      source.subscribe(type, scope, change => {
        if (!predicate(change)) return
        const found = new Map<string, ObjectKey>()
        for (const key of keysOf(change.old)) found.set(keyText(key), key)
        for (const key of keysOf(change.new)) found.set(keyText(key), key)
        for (const key of found.values()) enqueue(key, change)
      }),
  }
}

/** Triggers the objects of the controller's own kind. */
export function watchSelf(type: ResourceType, wakesOnStatus: boolean): Watch {
  return watches(type, object => [keyOf(object)], wakesOnStatus ? {} : { predicate: specOrMetadataChanged })
}

/** Triggers the object that the controller ownerReference of a changed child names. */
export function watchOwned(child: ResourceType, owner: ResourceType, labelSelector?: string): Watch {
  const keys = (object: KubeObject): readonly ObjectKey[] => {
    const key = controllingKey(object, owner)
    return key === undefined ? [] : [key]
  }
  return watches(child, keys, labelSelector === undefined ? {} : { labelSelector })
}
