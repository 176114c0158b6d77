// Writes an Application's objects: creates, changes and prunes them. Never changes or deletes an object that the Application does not control.
// reconcile.ts calls it; together they are the only files that write: objects here, the status there. The status must name beforehand what
// could not be found by its owner (`mustBeNamedFirst` in inventory.ts).
import { type Application, applicationReasons, application as applications } from '../../../api/apps/application.ts'
import { deployments, persistentVolumeClaims } from '../../../api/builtin/index.ts'
import { type KubeObject, noVersion } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { fitsNoSchema, isGone, isKubeError, lacksRight } from '../../../kube/client/errors.ts'
import { controllerOf, controllingKey } from '../../../kube/object/owner.ts'
import type { Refusal } from '../../../policy/check.ts'
import type { Manifest } from '../desired.ts'
import { type Autoscaled, autoscaledBy, isAutoscaled, withReplicas } from './autoscaled.ts'
import { entryOf, entryText, type InventoryEntry } from './inventory.ts'
import { needsApply } from './needs-apply.ts'
import { isQuotaMessage, quotaCure } from './quota.ts'
import { renderableKind } from './renderable-kinds.ts'
import { isKeptClaimOf, missingRecord } from './volume-claim-rules.ts'

/** The field manager of an Application's objects and of its status. */
export const fieldManager = 'sekisho.dev/application'

/** On whose behalf objects are written, and with which client. */
export type Target = {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'applyStatus' | 'delete'>
  readonly application: Application
  /** Rejects when the cached Application is out of date. Called before an existing object is changed or deleted. */
  readonly assertCurrent: () => Promise<unknown>
}

/** What is known of the Application's objects before the API server is asked. */
export type KnownObjects = {
  /** Cached objects that the Application controls, by `entryText`. */
  readonly children: ReadonlyMap<string, KubeObject>
  /** The `entryText` of what was there or named before this run. Anything else is most likely absent: creating it costs one request, not two. */
  readonly named: ReadonlySet<string>
}

/** `children` as above; `volumeClaims`: the volume claims that carry the label of the Application, by `entryText`. */
export type PresentClaims = Pick<KnownObjects, 'children'> & { readonly volumeClaims: ReadonlySet<string> }

/** `changed`: at least one object was written. */
export type AppliedObjects =
  /** Every object as the server answered it or the cache holds it, by `entryText`. */
  | { readonly kind: 'applied'; readonly live: ReadonlyMap<string, KubeObject>; readonly changed: boolean }
  | ({ readonly kind: 'refused'; readonly changed: boolean } & Refusal)

/** Beside the target, what one rendering says about several objects. */
type Writing = Target & { readonly autoscaled: Autoscaled }

type Applied =
  | { readonly kind: 'live'; readonly object: KubeObject; readonly changed: boolean }
  | ({ readonly kind: 'refused' } & Refusal)

/** Also for two Applications whose names and those of their processes have the same result, such as `a-b` with `c` and `a` with `b-c`. */
function conflict(manifest: Manifest, live?: KubeObject): Refusal {
  const { kind, metadata } = manifest
  const owner = live && controllingKey(live, applications)
  const cure = owner
    ? `belongs to Application ${owner.name}: rename a process or one of the Applications`
    : 'does not belong to this Application: delete or rename it, or rename the Application'
  const message = `${kind} ${metadata.name} exists and ${cure}`
  return { reason: applicationReasons.nameConflict, message }
}

function nameConflict(manifest: Manifest, live?: KubeObject): Applied {
  return { kind: 'refused', ...conflict(manifest, live) }
}

/**
 * A refusal because of the manifest's content is for its author to fix.
 * @throws the error when a retry may succeed: a server that is busy, an expired credential, rights that are just being given in this namespace, a
 * conflict (a race that was lost)
 */
function refusedByCluster(manifest: Manifest, error: unknown): Applied {
  if (!isKubeError(error) || error.status === 401 || error.status === 409 || lacksRight(error)) throw error
  if (error.retryable && !fitsNoSchema(error)) throw error
  const text = `the cluster refuses ${manifest.kind} ${manifest.metadata.name}: ${error.message}`.slice(0, 1000)
  if (!isQuotaMessage(error.message)) return { kind: 'refused', reason: applicationReasons.refusedByCluster, message: text }
  return { kind: 'refused', reason: applicationReasons.quotaExceeded, message: `${text}: ${quotaCure}` }
}

async function create({ client, autoscaled }: Writing, manifest: Manifest): Promise<Applied> {
  const type = renderableKind(manifest)
  if (!type) return nameConflict(manifest)
  try {
    const complete = withReplicas(manifest, undefined, autoscaled)
    const object = { ...complete, metadata: { ...complete.metadata, resourceVersion: noVersion } }
    return { kind: 'live', object: await client.apply(type, object, { fieldManager }), changed: true }
  } catch (error) {
    return refusedByCluster(manifest, error)
  }
}

/** 'exists' after a conflict: an object most likely has that name, and the server has to be asked whose it is. */
async function tryCreate(target: Writing, manifest: Manifest): Promise<Applied | 'exists'> {
  try {
    return await create(target, manifest)
  } catch (error) {
    if (isKubeError(error, 409)) return 'exists'
    throw error
  }
}

async function change(target: Writing, manifest: Manifest, live: KubeObject): Promise<Applied> {
  const type = renderableKind(manifest)
  const { uid } = live.metadata
  if (!type || uid === undefined) return nameConflict(manifest)
  if (!needsApply(manifest, live)) return { kind: 'live', object: live, changed: false }
  await target.assertCurrent()
  try {
    const complete = await withRunningReplicas(target, manifest)
    const object = { ...complete, metadata: { ...complete.metadata, uid } }
    return { kind: 'live', object: await target.client.apply(type, object, { fieldManager, force: true }), changed: true }
  } catch (error) {
    return isGone(error) ? create(target, manifest) : refusedByCluster(manifest, error)
  }
}

/** The cache may be behind the autoscaler, so the server is asked. */
async function withRunningReplicas({ client, autoscaled }: Writing, manifest: Manifest): Promise<Manifest> {
  if (!isAutoscaled(manifest, autoscaled)) return manifest
  const { namespace, name } = manifest.metadata
  return withReplicas(manifest, await client.get(deployments, { namespace, name }), autoscaled)
}

function owns(application: Application, object: KubeObject): boolean {
  return controllerOf(object)?.uid === application.metadata.uid
}

async function applyOne(target: Writing, manifest: Manifest, { children, named }: KnownObjects): Promise<Applied> {
  const { client, application } = target
  const text = entryText(entryOf(manifest))
  const cached = children.get(text)
  if (cached && cached.metadata.deletionTimestamp === undefined) return change(target, manifest, cached)
  if (!cached && !named.has(text)) {
    const created = await tryCreate(target, manifest)
    if (created !== 'exists') return created
  }
  const type = renderableKind(manifest)
  const live = type && (await client.get(type, { namespace: manifest.metadata.namespace, name: manifest.metadata.name }))
  if (!live) return create(target, manifest)
  return owns(application, live) || isKeptClaimOf(application, live)
    ? change(target, manifest, live)
    : nameConflict(manifest, live)
}

/** Before the next object is applied, so that what was made is found again whatever happens to the Application. */
async function recordKept({ client, application }: Target, object: KubeObject): Promise<void> {
  const record = missingRecord(application, object)
  if (record) await client.applyStatus(persistentVolumeClaims, record, { fieldManager, force: true })
}

/**
 * A volume claim that carries the label of the Application without being one of its objects: a tenant may have planted it, so that the Application must
 * not name it as its own. Undefined when there is none.
 */
export function plantedClaim(manifests: readonly Manifest[], { children, volumeClaims }: PresentClaims): Refusal | undefined {
  const planted = manifests.find(manifest => {
    const text = entryText(entryOf(manifest))
    return volumeClaims.has(text) && !children.has(text)
  })
  if (!planted) return undefined
  const { kind, metadata } = planted
  const message = `${kind} ${metadata.name} exists, and its status does not record that it is kept for this Application: delete it, rename the volume or the Application, or have a platform admin record it (guide: Processes, schedules, volumes and domains, Volumes)`
  return { reason: applicationReasons.nameConflict, message }
}

/**
 * Applies the manifests in order and halts at the first refusal: later ones may refer to what was refused.
 * @throws KubeError when a retry may succeed, and what `assertCurrent` throws
 */
export async function applyObjects(target: Target, manifests: readonly Manifest[], known: KnownObjects): Promise<AppliedObjects> {
  const live = new Map<string, KubeObject>()
  const writing = { ...target, autoscaled: autoscaledBy(manifests) }
  let changed = false
  for (const manifest of manifests) {
    const applied = await applyOne(writing, manifest, known)
    if (applied.kind === 'refused') return { ...applied, changed }
    changed ||= applied.changed
    await recordKept(target, applied.object)
    live.set(entryText(entryOf(manifest)), applied.object)
  }
  return { kind: 'applied', live, changed }
}

/** Deletes objects that are no longer rendered. Skips what is gone and what another owner controls under that name; safe to repeat. */
export async function prune({ client, application, assertCurrent }: Target, entries: readonly InventoryEntry[]): Promise<void> {
  for (const entry of entries) {
    const type = renderableKind(entry)
    const key = { namespace: application.metadata.namespace ?? '', name: entry.name }
    const live = type && (await client.get(type, key))
    const uid = live?.metadata.uid
    if (!type || !live || uid === undefined || !owns(application, live)) continue
    await assertCurrent()
    await client.delete(type, key, { uid })
  }
}
