// Filters for changes of watched objects: a predicate decides on one change. Additions and deletions always pass. Pure.
import type { KubeObject } from '../../api/resource.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { Change } from '../cache/object-cache.ts'

export type Predicate<T extends KubeObject> = (change: Change<T>) => boolean

const watchedFields = ['generation', 'deletionTimestamp', 'labels', 'annotations', 'finalizers', 'ownerReferences'] as const

/**
 * False only for an update of nothing but `status`: generation, labels, annotations, finalizers, owners and deletionTimestamp
 * are the same. Updates of kinds without `metadata.generation` (ConfigMap, Secret…) always pass.
 */
export const specOrMetadataChanged: Predicate<KubeObject> = ({ old, new: present }) => {
  if (old === undefined || present === undefined) return true
  const before = old.metadata
  const after = present.metadata
  if (before.generation === undefined || after.generation === undefined) return true
  return watchedFields.some(field => !sameJson(before[field], after[field]))
}

/** For watched objects of which only a part matters: passes when the result of `part` differs between old and new. */
export function partChanged<T extends KubeObject>(part: (object: T) => unknown): Predicate<T> {
  return ({ old, new: present }) => old === undefined || present === undefined || !sameJson(part(old), part(present))
}
