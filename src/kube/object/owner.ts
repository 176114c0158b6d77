// Owner references: how a child names the object that controls it, and how a change of the child is mapped to that object. Pure.
import type { KubeObject, ObjectKey, OwnerReference, ResourceType } from '../../api/resource.ts'
import { AppError } from '../../lib/errors.ts'

/**
 * A reference to `object` for a child's metadata. The owner must be in the child's namespace or cluster-wide, else the garbage
 * collector deletes the child. `blockOwnerDeletion` is not set: it requires permission on the owner's `finalizers`.
 */
export function ownerReference(object: KubeObject, options: { readonly controller: boolean }): OwnerReference {
  const { apiVersion, kind } = object
  return { apiVersion, kind, name: object.metadata.name, uid: uidOf(object), controller: options.controller }
}

/** Throws for an object that was not read from the API server, because a write could reach another object of that name. */
export function uidOf({ kind, metadata: { name, uid } }: KubeObject): string {
  if (uid === undefined) throw new AppError('internal', `${kind} ${name} has no uid: it was not read from the API server`)
  return uid
}

/** The owner reference that is marked as controller. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(reference => reference.controller === true)
}

/**
 * The key of the object of this `type` that controls `child`, in any API version; undefined when another or no object controls
 * it.
 */
export function controllingKey(child: KubeObject, type: ResourceType): ObjectKey | undefined {
  const reference = controllerOf(child)
  if (reference === undefined || reference.kind !== type.kind) return undefined
  if (groupOf(reference.apiVersion) !== groupOf(type.apiVersion)) return undefined
  if (!type.namespaced) return { name: reference.name }
  const { namespace } = child.metadata
  return namespace === undefined ? undefined : { namespace, name: reference.name }
}

function groupOf(apiVersion: string): string | undefined {
  return apiVersion.includes('/') ? apiVersion.split('/')[0] : undefined
}
