// Which changes of an object matter. A predicate says yes or no to one change; appearing and vanishing always matter. Pure.
import type { KubeObject } from '../../api/resource.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { Change } from '../cache/object-cache.ts'

export type Predicate<T extends KubeObject> = (change: Change<T>) => boolean

const watchedParts = ['generation', 'deletionTimestamp', 'labels', 'annotations', 'finalizers', 'ownerReferences'] as const

/**
 * False only for an update of which nothing but `status` can have changed: same generation, labels, annotations, finalizers, owners
 * and deletion mark. Kinds without `metadata.generation` (ConfigMap, Secret…) always count.
 */
export const specOrMetadataChanged: Predicate<KubeObject> = ({ old, new: present }) => {
  if (old === undefined || present === undefined) return true
  const before = old.metadata
  const after = present.metadata
  if (before.generation === undefined || after.generation === undefined) return true
  return watchedParts.some(part => !sameJson(before[part], after[part]))
}

/** For watched objects of which one part matters: true when `part` differs between old and new. */
export function partChanged<T extends KubeObject>(part: (object: T) => unknown): Predicate<T> {
  return ({ old, new: present }) => old === undefined || present === undefined || !sameJson(part(old), part(present))
}
