// Adds and removes one finalizer by server-side apply, under a field manager that owns this finalizer and nothing else, so that
// writers of other finalizers never collide. The uid goes with every apply: an apply is an upsert and would otherwise raise the dead.
// Never sends any other field, never PUTs.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { keyOf } from '../../api/resource.ts'
import type { Applied, KubeClient } from '../client/client.ts'
import { isGone, isKubeError } from '../client/errors.ts'
import { uidOf } from './owner.ts'

type Writer = Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>

const managedBy = (finalizer: string): { readonly fieldManager: string } => ({ fieldManager: `${finalizer}-finalizer` })

function application(type: ResourceType, object: KubeObject, wanted: { readonly finalizers?: readonly string[] }): Applied {
  const { apiVersion, kind } = type
  return { apiVersion, kind, metadata: { ...keyOf(object), uid: uidOf(object), ...wanted } }
}

/**
 * Resolves to the object with the finalizer on it, or to `undefined` when the object is gone or already being deleted: then nothing
 * outside may be created for it any more. `finalizer` has a domain, such as `sekisho.dev/tenant`.
 */
export async function addFinalizer<T extends KubeObject>(
  client: Writer,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
): Promise<T | undefined> {
  if (object.metadata.finalizers?.includes(finalizer)) return object
  if (object.metadata.deletionTimestamp !== undefined) return undefined
  try {
    return await client.apply(type, application(type, object, { finalizers: [finalizer] }), managedBy(finalizer))
  } catch (error) {
    if (isGone(error)) return undefined
    // The server takes no new finalizer on an object that is being deleted.
    if (!isKubeError(error, 422) || !error.fields.includes('metadata.finalizers')) throw error
    const now = await client.get(type, keyOf(object))
    if (now?.metadata.uid === object.metadata.uid && now?.metadata.deletionTimestamp === undefined) throw error
    return undefined
  }
}

/** Removes the finalizer from this very object (by uid). An object that is gone, or whose name another has taken, is a success. */
export async function removeFinalizer<T extends KubeObject>(
  client: Writer,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  if (!object.metadata.finalizers?.includes(finalizer)) return
  let current: T
  try {
    current = await client.apply(type, application(type, object, {}), managedBy(finalizer))
  } catch (error) {
    if (isGone(error)) return
    throw error
  }
  // Still there: another manager owns it too, for example because it came with the object's creation. The list is patched as it was
  // read; a lost race is a 409, and the next reconcile tries again.
  const { uid, resourceVersion, finalizers } = current.metadata
  if (uid !== object.metadata.uid || !finalizers?.includes(finalizer)) return
  const patch = { metadata: { uid, resourceVersion, finalizers: finalizers.filter(other => other !== finalizer) } }
  await client.mergePatch(type, keyOf(object), patch, managedBy(finalizer))
}
