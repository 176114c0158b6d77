// Writes an Application's objects: creates, changes and prunes, and never touches an object that is not this Application's.
// Called by reconcile.ts only, after the inventory is in the status.
import { type Application, applicationReasons } from '../../api/application.ts'
import type { KubeObject } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isGone, isKubeError } from '../../kube/errors.ts'
import { controllerOf } from '../../kube/owner.ts'
import type { Refusal } from './decide.ts'
import type { Manifest } from './desired.ts'
import { entryOf, entryText, type InventoryEntry } from './inventory.ts'
import { needsApply } from './live-match.ts'
import { renderableKind } from './renderable-kinds.ts'

export const fieldManager = 'sekisho.dev/application'

type Writer = Pick<KubeClient, 'get' | 'apply' | 'delete'>

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

/** What the API server refuses for what it says is the author's to mend; what may pass by itself is thrown. */
function refusedByCluster(manifest: Manifest, error: unknown): One {
  if (!isKubeError(error) || error.retryable || error.status === 401) throw error
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
    return isKubeError(error, 409) ? nameConflict(manifest) : refusedByCluster(manifest, error)
  }
}

async function change(client: Writer, manifest: Manifest, live: KubeObject): Promise<One> {
  const type = renderableKind(manifest)
  const { uid } = live.metadata
  if (!type || uid === undefined) return nameConflict(manifest)
  if (!needsApply(manifest, live)) return { kind: 'live', object: live, changed: false }
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
  cached: KubeObject | undefined,
): Promise<One> {
  if (cached && owns(application, cached) && cached.metadata.deletionTimestamp === undefined)
    return change(client, manifest, cached)
  const type = renderableKind(manifest)
  const live = type && (await client.get(type, { namespace: manifest.metadata.namespace, name: manifest.metadata.name }))
  if (!live) return create(client, manifest)
  return owns(application, live) ? change(client, manifest, live) : nameConflict(manifest)
}

/** Applies in order and stops at the first refusal: what comes later may refer to what was refused. */
export async function applyObjects(
  client: Writer,
  application: Application,
  manifests: readonly Manifest[],
  cached: (entry: InventoryEntry) => KubeObject | undefined,
): Promise<AppliedObjects> {
  const live = new Map<string, KubeObject>()
  let changed = false
  for (const manifest of manifests) {
    const entry = entryOf(manifest)
    const one = await applyOne(client, application, manifest, cached(entry))
    if (one.kind === 'refused') return { ...one, changed }
    changed ||= one.changed
    live.set(entryText(entry), one.object)
  }
  return { kind: 'applied', live, changed }
}

/** Deletes what was rendered once and is not any more. A stranger under that name stays; so does what is gone already. */
export async function prune(client: Writer, application: Application, entries: readonly InventoryEntry[]): Promise<void> {
  for (const entry of entries) {
    const type = renderableKind(entry)
    const key = { namespace: application.metadata.namespace ?? '', name: entry.name }
    const live = type && (await client.get(type, key))
    const uid = live?.metadata.uid
    if (type && live && uid !== undefined && owns(application, live))
      await client.delete(type, key, { uid, propagationPolicy: 'Background' })
  }
}
