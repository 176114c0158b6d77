// Makes or changes one object of a preview by server-side apply. Never changes an object that the AppPipeline does not control. reconcile.ts calls it.
import { type AppPipeline, appPipelineReasons as reasons } from '../../../api/apps/app-pipeline.ts'
import { type KubeObject, keyOf, noVersion, type ResourceType } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isGone, isKubeError, lacksRight } from '../../../kube/client/errors.ts'
import { controllerOf, uidOf } from '../../../kube/object/owner.ts'
import type { Standing } from '../choose.ts'
import { isAsDesired, type Manifest } from '../desired.ts'

export type ObjectWrite = {
  readonly client: Pick<KubeClient, 'get' | 'apply'>
  readonly owner: AppPipeline
  readonly fieldManager: string
}

export type Ensured<T> =
  | { readonly kind: 'live'; readonly object: T; readonly changed: boolean }
  | { readonly kind: 'refused'; readonly standing: Standing }

type WithSpec = KubeObject & { readonly spec: object }

/** `cached`: the object as the cache has it; undefined when it most likely does not exist. @throws KubeError when a retry may succeed */
export async function ensureObject<T extends WithSpec>(
  write: ObjectWrite,
  type: ResourceType<T>,
  cached: T | undefined,
  desired: Manifest,
): Promise<Ensured<T>> {
  if (cached !== undefined) return change(write, type, cached, desired)
  try {
    return await create(write, type, desired)
  } catch (error) {
    if (!isKubeError(error, 409)) throw error
  }
  const live = await write.client.get(type, { namespace: desired.metadata.namespace, name: desired.metadata.name })
  if (live === undefined) return create(write, type, desired)
  if (controllerOf(live)?.uid === write.owner.metadata.uid) return change(write, type, live, desired)
  const message = `${type.kind} ${desired.metadata.name} exists and does not belong to AppPipeline ${write.owner.metadata.name}: delete or rename it`
  return { kind: 'refused', standing: { state: 'Failed', reason: reasons.nameConflict, message } }
}

/** Only ever creates: one that appeared meanwhile is a conflict. */
async function create<T extends WithSpec>(
  { client, fieldManager }: ObjectWrite,
  type: ResourceType<T>,
  desired: Manifest,
): Promise<Ensured<T>> {
  const object = { ...desired, metadata: { ...desired.metadata, resourceVersion: noVersion } }
  try {
    return { kind: 'live', object: await client.apply(type, object, { fieldManager }), changed: true }
  } catch (error) {
    return refusal(desired, error)
  }
}

async function change<T extends WithSpec>(
  write: ObjectWrite,
  type: ResourceType<T>,
  live: T,
  desired: Manifest,
): Promise<Ensured<T>> {
  if (isAsDesired(live, desired)) return { kind: 'live', object: live, changed: false }
  const { client, fieldManager } = write
  const object = { ...desired, metadata: { ...desired.metadata, ...keyOf(live), uid: uidOf(live) } }
  try {
    return { kind: 'live', object: await client.apply(type, object, { fieldManager, force: true }), changed: true }
  } catch (error) {
    // It was deleted meanwhile: the cache shows it soon, and the next run makes another one.
    if (isGone(error)) return { kind: 'live', object: live, changed: true }
    return refusal(desired, error)
  }
}

/** A refusal because of what is asked for; @throws the error when a retry may succeed */
function refusal(desired: Manifest, error: unknown): Ensured<never> {
  if (!isKubeError(error) || error.retryable || [401, 409].includes(error.status ?? 0) || lacksRight(error)) throw error
  const message = `the cluster refuses ${desired.kind} ${desired.metadata.name}: ${error.message}`.slice(0, 400)
  // The text is that of the admission plugin ResourceQuota.
  if (error.message.includes('exceeded quota'))
    return { kind: 'refused', standing: { state: 'Waiting', reason: reasons.quotaExceeded, message } }
  return { kind: 'refused', standing: { state: 'Failed', reason: reasons.refusedByCluster, message } }
}
