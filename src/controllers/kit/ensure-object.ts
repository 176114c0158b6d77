// Makes one object be as it is wanted, by server-side apply, and never changes one that belongs to somebody else.
import { type KubeObject, noVersion, type ResourceType } from '../../api/resource.ts'
import type { Applied, KubeClient } from '../../kube/client/client.ts'
import { isGone, isKubeError } from '../../kube/client/errors.ts'
import { uidOf } from '../../kube/object/owner.ts'
import { type ClusterRefusal, clusterRefusal } from './cluster-refusal.ts'

export type Wanted = Applied & { readonly metadata: { readonly namespace: string; readonly name: string } }

/** What differs between those who write. */
export type EnsureOptions<T extends KubeObject> = {
  readonly client: Pick<KubeClient, 'get' | 'apply'>
  readonly type: ResourceType<T>
  readonly fieldManager: string
  /** As the cache has it; undefined when it has none of ours. */
  readonly cached: T | undefined
  /**
   * Ask the API server before an object is created: something says that there is one. Otherwise creating it costs one
   * request, not two.
   */
  readonly mayExist?: boolean
  readonly isOurs: (live: T) => boolean
  /** Whether applying what is wanted would change the object, so that a second reconcile writes nothing. */
  readonly needsApply: (live: T) => boolean
  /** Called before an object that exists is changed. Rejects when what the decision was made from is out of date. */
  readonly assertCurrent?: () => Promise<unknown>
  /** What to apply to an object that exists, where that is more than what is wanted. */
  readonly forExisting?: () => Promise<Applied>
}

export type Ensured<T extends KubeObject> =
  /** As the server answered it, or as the cache holds it. `changed`: it was written. */
  | { readonly kind: 'live'; readonly object: T; readonly changed: boolean }
  /** The name belongs to an object that is not ours. */
  | { readonly kind: 'foreign'; readonly object: T }
  | ({ readonly kind: 'refused' } & ClusterRefusal)

/** @throws KubeError when a retry may succeed, and what `assertCurrent` throws */
export async function ensureObject<T extends KubeObject>(options: EnsureOptions<T>, wanted: Wanted): Promise<Ensured<T>> {
  const { client, type, cached, mayExist = false, isOurs } = options
  if (cached !== undefined && cached.metadata.deletionTimestamp === undefined) return change(options, wanted, cached)
  if (cached === undefined && !mayExist) {
    const created = await createUnlessExists(options, wanted)
    if (created !== 'exists') return created
  }
  const { namespace, name } = wanted.metadata
  const live = await client.get(type, { namespace, name })
  if (live === undefined) return create(options, wanted)
  return isOurs(live) ? change(options, wanted, live) : { kind: 'foreign', object: live }
}

/** Only ever creates: one that appeared meanwhile is a conflict. */
async function create<T extends KubeObject>(
  { client, type, fieldManager }: EnsureOptions<T>,
  wanted: Wanted,
): Promise<Ensured<T>> {
  const object = { ...wanted, metadata: { ...wanted.metadata, resourceVersion: noVersion } }
  try {
    return { kind: 'live', object: await client.apply(type, object, { fieldManager }), changed: true }
  } catch (error) {
    return { kind: 'refused', ...clusterRefusal(wanted, error) }
  }
}

/** `exists` after a conflict: the server has to be asked whose it is. */
async function createUnlessExists<T extends KubeObject>(
  options: EnsureOptions<T>,
  wanted: Wanted,
): Promise<Ensured<T> | 'exists'> {
  try {
    return await create(options, wanted)
  } catch (error) {
    if (isKubeError(error, 409)) return 'exists'
    throw error
  }
}

async function change<T extends KubeObject>(options: EnsureOptions<T>, wanted: Wanted, live: T): Promise<Ensured<T>> {
  const { client, type, fieldManager, needsApply, assertCurrent, forExisting } = options
  if (!needsApply(live)) return { kind: 'live', object: live, changed: false }
  await assertCurrent?.()
  const complete = (await forExisting?.()) ?? wanted
  const object = { ...complete, metadata: { ...complete.metadata, uid: uidOf(live) } }
  try {
    return { kind: 'live', object: await client.apply(type, object, { fieldManager, force: true }), changed: true }
  } catch (error) {
    return isGone(error) ? create(options, wanted) : { kind: 'refused', ...clusterRefusal(wanted, error) }
  }
}
