// The skeleton of a controller whose objects leave something behind that the garbage collector does not end: tokens, builds, namespaces.
// The finalizer is there before anything is made, and goes when everything that was made has ended. It decides nothing about the object.
import type { KubeObject, ResourceType } from '../api/resource.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import type { KubeClient } from '../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext } from '../kube/controller/controller.ts'
import { addFinalizer, removeFinalizer } from '../kube/object/finalizers.ts'
import type { StatusWriter } from './status-writer.ts'

export type FinalizedKind<T extends KubeObject> = {
  readonly type: ResourceType<T>
  readonly finalizer: string
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly cache: Pick<Cache<T>, 'get'>
  readonly status: Pick<StatusWriter<T>, 'latest'>
  /** Brings an object that is not being deleted to what it says; it has the finalizer by now. */
  readonly keep: (object: T) => Promise<Outcome>
  /**
   * Ends what the object leaves behind. Runs again until it resolves to undefined, which means that nothing is left; an outcome says when to
   * look again. Every step of it accepts that it was done before.
   */
  readonly end: (object: T) => Promise<Outcome | undefined>
}

/** @throws what `keep` and `end` throw: the key is then tried again */
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
