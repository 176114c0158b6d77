// Adds and removes one finalizer by server-side apply. Its field manager owns this finalizer and nothing else, so it never
// conflicts with the writers of other finalizers. Every apply contains the uid: an apply is an upsert and would otherwise
// recreate a deleted object. It never sends any other field and never uses PUT.
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
 * Resolves to the object with the finalizer, or to `undefined` when the object does not exist or is being deleted: then nothing
 * may be created for it outside the cluster. `finalizer` has a domain, such as `sekisho.dev/tenant`.
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
    // The server rejects a new finalizer on an object that is being deleted.
    if (!isKubeError(error, 422) || !error.fields.includes('metadata.finalizers')) throw error
    const now = await client.get(type, keyOf(object))
    if (now?.metadata.uid === object.metadata.uid && now?.metadata.deletionTimestamp === undefined) throw error
    return undefined
  }
}

/** Removes the finalizer from the object with this uid. Succeeds when that object does not exist any more. */
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
  // If it remains, another manager owns it too, for example because the object was created with it. Patch the list as it was
  // read; a conflict is a 409, and the next reconcile retries.
  const { uid, resourceVersion, finalizers } = current.metadata
  if (uid !== object.metadata.uid || !finalizers?.includes(finalizer)) return
  const patch = { metadata: { uid, resourceVersion, finalizers: finalizers.filter(other => other !== finalizer) } }
  await client.mergePatch(type, keyOf(object), patch, managedBy(finalizer))
}
