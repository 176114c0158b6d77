// The reconcile skeleton of kinds that leave something behind which the garbage collector does not end: tokens, builds, namespaces.
// The finalizer is set before anything is created and removed after all of it has ended. It decides nothing about the object.
import type { KubeObject, ResourceType } from '../api/resource.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import type { KubeClient } from '../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext } from '../kube/controller/controller.ts'
import { addFinalizer, removeFinalizer } from '../kube/object/finalizers.ts'
import type { StatusWriter } from './status-writer.ts'

/** What differs between the kinds. */
export type FinalizedKind<T extends KubeObject> = {
  readonly type: ResourceType<T>
  readonly finalizer: string
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly cache: Pick<Cache<T>, 'get'>
  readonly status: Pick<StatusWriter<T>, 'latest'>
  /** Reconciles an object that is not being deleted and has the finalizer. */
  readonly keep: (object: T) => Promise<Outcome>
  /**
   * Ends what the object leaves behind. Resolves to undefined when nothing is left: the finalizer is then removed. An outcome says when to call
   * it again, so every step of it must be idempotent.
   */
  readonly end: (object: T) => Promise<Outcome | undefined>
}

/**
 * An object that is being deleted without our finalizer never got as far as `keep`, or was ended already: nothing is done for it.
 * @throws what `keep` and `end` throw: the key is then retried
 */
export async function reconcileWithFinalizer<T extends KubeObject>(
  kind: FinalizedKind<T>,
  context: Pick<ReconcileContext, 'key'>,
): Promise<Outcome> {
  const found = kind.cache.get(context.key)
  if (found === undefined) return done
  const latest = kind.status.latest(found)
  if (latest.metadata.deletionTimestamp === undefined) {
    const object = await addFinalizer(kind.client, kind.type, latest, kind.finalizer)
    return object === undefined ? done : kind.keep(object)
  }
  if (!latest.metadata.finalizers?.includes(kind.finalizer)) return done
  const outcome = await kind.end(latest)
  if (outcome !== undefined) return outcome
  await removeFinalizer(kind.client, kind.type, latest, kind.finalizer)
  return done
}
