// Adds and removes one finalizer by server-side apply, under a field manager that owns this finalizer and nothing else, so that
// writers of other finalizers never collide. The uid goes with every apply: an apply is an upsert and would otherwise raise the dead.
// Never sends any other field, never PUTs.
import type { KubeObject, ResourceType } from '../api/resource.ts'
import { keyOf } from '../api/resource.ts'
import { AppError } from '../lib/errors.ts'
import type { Applied, KubeClient } from './client.ts'
import { isGone, isKubeError } from './errors.ts'

type Writer = Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>

const attempts = 5

function managerOf(finalizer: string): string {
  return `${finalizer}-finalizer`
}

function application(type: ResourceType, object: KubeObject, finalizers: readonly string[] | undefined): Applied {
  const { name, namespace, uid } = object.metadata
  if (uid === undefined) throw new AppError('internal', `${type.kind} ${name} has no uid: it was not read from the API server`)
  return {
    apiVersion: type.apiVersion,
    kind: type.kind,
    metadata: {
      name,
      uid,
      ...(namespace === undefined ? {} : { namespace }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
  }
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
    return await client.apply(type, application(type, object, [finalizer]), { fieldManager: managerOf(finalizer) })
  } catch (error) {
    if (isGone(error)) return undefined
    if (isKubeError(error, 422) && error.fields.includes('metadata.finalizers') && (await isLeaving(client, type, object)))
      return undefined
    throw error
  }
}

async function isLeaving<T extends KubeObject>(client: Writer, type: ResourceType<T>, object: T): Promise<boolean> {
  const now = await client.get(type, keyOf(object))
  return now === undefined || now.metadata.uid !== object.metadata.uid || now.metadata.deletionTimestamp !== undefined
}

/** Removes the finalizer from this very object (by uid). An object that is gone, or whose name another has taken, is a success. */
export async function removeFinalizer<T extends KubeObject>(
  client: Writer,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  if (!object.metadata.finalizers?.includes(finalizer)) return
  let current: T | undefined
  try {
    current = await client.apply(type, application(type, object, undefined), { fieldManager: managerOf(finalizer) })
  } catch (error) {
    if (isGone(error)) return
    throw error
  }
  // Still there: another manager owns it too, for example because it came with the object's creation.
  for (let attempt = 0; current !== undefined && current.metadata.uid === object.metadata.uid; attempt++) {
    if (!current.metadata.finalizers?.includes(finalizer)) return
    if (attempt >= attempts)
      throw new AppError('conflict', `${type.kind} ${object.metadata.name}: others keep changing it, ${finalizer} is still there`)
    current = await dropFromList(client, type, current, finalizer)
  }
}

/** One try to take the finalizer out of the list as it was read; answers with the object as it is now. */
async function dropFromList<T extends KubeObject>(
  client: Writer,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
): Promise<T | undefined> {
  const { uid, resourceVersion, finalizers } = object.metadata
  const patch = { metadata: { uid, resourceVersion, finalizers: finalizers?.filter(other => other !== finalizer) } }
  try {
    return await client.mergePatch(type, keyOf(object), patch, { fieldManager: managerOf(finalizer) })
  } catch (error) {
    if (isGone(error)) return undefined
    if (!isKubeError(error, 409)) throw error
    return client.get(type, keyOf(object))
  }
}
