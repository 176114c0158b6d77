// What exists of the Applications that an object owns, and how it is found: by the controlling owner, never by a name. Pure,
// but for the index.
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { KubeObject, ResourceType } from '../../../api/resource.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import { controllerOf, controllingKey } from '../../../kube/object/owner.ts'

/** What exists of one of them. Without a source there is never a RemoteSync. */
export type Owned = { readonly application: Application | undefined; readonly remoteSync: RemoteSync | undefined }

/** Children by the uid of the object of this kind that controls them. */
const indexOf = (kind: string): string => `owner/${kind}`

/** Call once, before the cache starts. An owner of that kind in another group, which anybody may name, counts for nothing. */
export function addOwnedIndex<T extends KubeObject>(cache: Cache<T>, type: ResourceType): void {
  cache.addIndex(indexOf(type.kind), child => {
    const uid = controllingKey(child, type) && controllerOf(child)?.uid
    return uid === undefined ? [] : [uid]
  })
}

/** The children of an object of this kind. */
export function ownedBy<T extends KubeObject>(cache: Cache<T>, kind: string, uid: string): readonly T[] {
  return cache.byIndex(indexOf(kind), uid)
}
