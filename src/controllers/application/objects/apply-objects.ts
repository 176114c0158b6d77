// Writes an Application's objects: creates, changes and prunes, and never touches an object that is not this Application's.
// Called by reconcile.ts only, after the status names what could not be found by its owner (`mustBeNamedFirst` in inventory.ts).
import { type Application, applicationReasons } from '../../../api/apps/application.ts'
import type { KubeObject } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isGone, isKubeError } from '../../../kube/client/errors.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import type { Refusal } from '../decide.ts'
import type { Manifest } from '../desired.ts'
import { entryOf, entryText, type InventoryEntry } from './inventory.ts'
import { needsApply } from './live-match.ts'
import { renderableKind } from './renderable-kinds.ts'

export const fieldManager = 'sekisho.dev/application'

type Writer = Pick<KubeClient, 'get' | 'apply' | 'delete'>

/** Rejects when the Application is not what it was taken for. Asked before anything that lives is changed or deleted. */
export type MayChange = () => Promise<void>

/** What is known of an object before the API server is asked. */
export type Known = {
  readonly cached: (entry: InventoryEntry) => KubeObject | undefined
  /** The inventory did not name it before this run, so it is most likely not there: making it costs one request instead of two. */
  readonly isNew: (entry: InventoryEntry) => boolean
}

export type AppliedObjects =
  /** Every object as the server answered or the cache holds it, by `entryText`. */
  | { readonly kind: 'applied'; readonly live: ReadonlyMap<string, KubeObject>; readonly changed: boolean }
  | ({ readonly kind: 'refused'; readonly changed: boolean } & Refusal)

type One =
  | { readonly kind: 'live'; readonly object: KubeObject; readonly changed: boolean }
  | ({ readonly kind: 'refused' } & Refusal)

/**
 * No object has this version: an apply that names it is a conflict where an object of that name exists, and creates where none does
 * (the API server ignores the version then; test/integration/application.test.ts holds it to that). So this is "create only".
 */
const noVersion = '1'

function nameConflict(manifest: Manifest): One {
  const { kind, metadata } = manifest
  const message = `${kind} ${metadata.name} exists and is not this Application's: delete or rename it, or rename the Application`
  return { kind: 'refused', reason: applicationReasons.nameConflict, message }
}

/** What the API server refuses for what it says is the author's to mend; what may pass by itself is thrown. A conflict is a race that was lost. */
function refusedByCluster(manifest: Manifest, error: unknown): One {
  if (!isKubeError(error) || error.retryable || error.status === 401 || error.status === 409) throw error
  const message = `the cluster refuses ${manifest.kind} ${manifest.metadata.name}: ${error.message}`.slice(0, 1000)
  return { kind: 'refused', reason: applicationReasons.refusedByCluster, message }
}

async function create(client: Writer, manifest: Manifest): Promise<One> {
  const type = renderableKind(manifest)
  if (!type) return nameConflict(manifest)
  try {
    const object = { ...manifest, metadata: { ...manifest.metadata, resourceVersion: noVersion } }
    return { kind: 'live', object: await client.apply(type, object, { fieldManager }), changed: true }
  } catch (error) {
    return refusedByCluster(manifest, error)
  }
}

/** 'exists' after a conflict: something most likely has that name already, and the server has to be asked whose it is. */
async function tryCreate(client: Writer, manifest: Manifest): Promise<One | 'exists'> {
  try {
    return await create(client, manifest)
  } catch (error) {
    if (isKubeError(error, 409)) return 'exists'
    throw error
  }
}

async function change(client: Writer, manifest: Manifest, live: KubeObject, mayChange: MayChange): Promise<One> {
  const type = renderableKind(manifest)
  const { uid } = live.metadata
  if (!type || uid === undefined) return nameConflict(manifest)
  if (!needsApply(manifest, live)) return { kind: 'live', object: live, changed: false }
  await mayChange()
  try {
    const object = { ...manifest, metadata: { ...manifest.metadata, uid } }
    return { kind: 'live', object: await client.apply(type, object, { fieldManager, force: true }), changed: true }
  } catch (error) {
    return isGone(error) ? create(client, manifest) : refusedByCluster(manifest, error)
  }
}

function owns(application: Application, object: KubeObject): boolean {
  return controllerOf(object)?.uid === application.metadata.uid
}

async function applyOne(
  client: Writer,
  application: Application,
  manifest: Manifest,
  known: Known,
  mayChange: MayChange,
): Promise<One> {
  const entry = entryOf(manifest)
  const cached = known.cached(entry)
  if (cached && owns(application, cached) && cached.metadata.deletionTimestamp === undefined)
    return change(client, manifest, cached, mayChange)
  if (!cached && known.isNew(entry)) {
    const one = await tryCreate(client, manifest)
    if (one !== 'exists') return one
  }
  const type = renderableKind(manifest)
  const live = type && (await client.get(type, { namespace: manifest.metadata.namespace, name: manifest.metadata.name }))
  if (!live) return create(client, manifest)
  return owns(application, live) ? change(client, manifest, live, mayChange) : nameConflict(manifest)
}

/** Applies in order and stops at the first refusal: what comes later may refer to what was refused. */
export async function applyObjects(
  client: Writer,
  application: Application,
  manifests: readonly Manifest[],
  known: Known,
  mayChange: MayChange,
): Promise<AppliedObjects> {
  const live = new Map<string, KubeObject>()
  let changed = false
  for (const manifest of manifests) {
    const one = await applyOne(client, application, manifest, known, mayChange)
    if (one.kind === 'refused') return { ...one, changed }
    changed ||= one.changed
    live.set(entryText(entryOf(manifest)), one.object)
  }
  return { kind: 'applied', live, changed }
}

/** Deletes what was rendered once and is not any more. A stranger under that name stays; so does what is gone already. */
export async function prune(
  client: Writer,
  application: Application,
  entries: readonly InventoryEntry[],
  mayChange: MayChange,
): Promise<void> {
  for (const entry of entries) {
    const type = renderableKind(entry)
    const key = { namespace: application.metadata.namespace ?? '', name: entry.name }
    const live = type && (await client.get(type, key))
    const uid = live?.metadata.uid
    if (!type || !live || uid === undefined || !owns(application, live)) continue
    await mayChange()
    await client.delete(type, key, { uid })
  }
}
