// Writes an Application's objects: creates, changes and prunes them. Never changes or deletes an object that the Application
// does not control. The status must name beforehand what could not be found by its owner (apply-manifests.ts).
import { applicationAccount } from '../../../api/application-account.ts'
import { type Application, applicationReasons, application as applications } from '../../../api/apps/application.ts'
import { deployments, persistentVolumeClaims, serviceAccounts } from '../../../api/builtin/index.ts'
import type { KubeObject } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { controllerOf, controllingKey } from '../../../kube/object/owner.ts'
import { quotaCure } from '../../kit/cluster-refusal.ts'
import { ensureObject } from '../../kit/ensure-object.ts'
import type { Refusal } from '../../kit/refusal.ts'
import { fieldManager } from '../field-manager.ts'
import { underDefaultAccount } from '../rendering/account.ts'
import type { Manifest } from '../rendering/desired.ts'
import { appliedKind } from '../rendering/renderable-kinds.ts'
import { isKeptClaimOf, missingRecord } from '../rendering/volume-claim-rules.ts'
import { type Autoscaled, autoscaledBy, isAutoscaled, withReplicas } from './autoscaled.ts'
import { entryOf, entryText, type InventoryEntry } from './inventory.ts'
import { needsApply } from './needs-apply.ts'

/** What the cluster refuses today it may accept later, such as after a quota is raised: tried again at this interval. */
const refusedRetryMilliseconds = 60_000

/** On whose behalf objects are written, and with which client. */
export type Target = {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'applyStatus' | 'delete'>
  readonly application: Application
  /** Rejects when the cached Application is out of date. Called before an existing object is changed or deleted. */
  readonly assertCurrent: () => Promise<unknown>
}

/** What the caches know of an Application's objects. */
export type ObjectFacts = {
  /** Those whose controller is the Application, by uid, and the volume claims that are kept for it, by `entryText`. */
  readonly children: ReadonlyMap<string, KubeObject>
  /** The volume claims that carry its label, whoever made them, by `entryText`. */
  readonly volumeClaims: ReadonlySet<string>
  /** What the Application has: its inventory and its cached children. */
  readonly present: readonly InventoryEntry[]
}

export type KnownObjects = Pick<ObjectFacts, 'children'> & {
  /**
   * The `entryText` of what was there or named before this run. Anything else is most likely absent: creating it costs one
   * request, not two.
   */
  readonly named: ReadonlySet<string>
}

/** `changed`: at least one object was written. */
export type AppliedObjects =
  /** Every object as the server answered it or the cache holds it, by `entryText`. */
  | { readonly kind: 'applied'; readonly live: ReadonlyMap<string, KubeObject>; readonly changed: boolean }
  | ({ readonly kind: 'refused'; readonly changed: boolean } & Refusal)

/** Beside the target, what one rendering says about several objects. */
type Writing = Target & {
  readonly autoscaled: Autoscaled
  /** The account of its grants is among its objects, and is not wanted any more. */
  readonly leavesAccount: boolean
}

type Applied =
  | { readonly kind: 'live'; readonly object: KubeObject; readonly changed: boolean }
  | ({ readonly kind: 'refused' } & Refusal)

/**
 * Also for two Applications whose names and those of their processes have the same result, such as `a-b` with `c` and `a` with
 * `b-c`.
 */
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

/** The cache may be behind the autoscaler, so the server is asked. */
async function withRunningReplicas({ client, autoscaled }: Writing, manifest: Manifest): Promise<Manifest> {
  if (!isAutoscaled(manifest, autoscaled)) return manifest
  const { namespace, name } = manifest.metadata
  return withReplicas(manifest, await client.get(deployments, { namespace, name }), autoscaled)
}

function owns(application: Application, object: KubeObject): boolean {
  return controllerOf(object)?.uid === application.metadata.uid
}

async function applyOne(writing: Writing, manifest: Manifest, { children, named }: KnownObjects): Promise<Applied> {
  const { client, application, autoscaled, leavesAccount, assertCurrent } = writing
  const type = appliedKind(manifest)
  if (!type) return nameConflict(manifest)
  const text = entryText(entryOf(manifest))
  const ensured = await ensureObject(
    {
      client,
      type,
      fieldManager,
      cached: children.get(text),
      mayExist: named.has(text),
      isOurs: live => owns(application, live) || isKeptClaimOf(application, live),
      needsApply: live => needsApply(manifest, live),
      assertCurrent,
      forExisting: () => withRunningReplicas(writing, leavesAccount ? underDefaultAccount(manifest) : manifest),
    },
    withReplicas(manifest, undefined, autoscaled),
  )
  if (ensured.kind === 'foreign') return nameConflict(manifest, ensured.object)
  if (ensured.kind === 'live') return ensured
  const refused = { kind: 'refused', requeueAfterMilliseconds: refusedRetryMilliseconds } as const
  if (ensured.because === 'content') return { ...refused, reason: applicationReasons.refusedByCluster, message: ensured.message }
  return { ...refused, reason: applicationReasons.quotaExceeded, message: `${ensured.message}: ${quotaCure}` }
}

/** Before the next object is applied, so that what was made is found again whatever happens to the Application. */
async function recordKept({ client, application }: Target, object: KubeObject): Promise<void> {
  const record = missingRecord(application, object)
  if (record) await client.applyStatus(persistentVolumeClaims, record, { fieldManager, force: true })
}

/**
 * A volume claim that carries the label of the Application without being one of its objects: a tenant may have planted it, so
 * that the Application must not name it as its own. Undefined when there is none.
 */
export function plantedClaim(
  manifests: readonly Manifest[],
  { children, volumeClaims }: Pick<ObjectFacts, 'children' | 'volumeClaims'>,
): Refusal | undefined {
  const planted = manifests.find(manifest => {
    const text = entryText(entryOf(manifest))
    return volumeClaims.has(text) && !children.has(text)
  })
  if (!planted) return undefined
  const { kind, metadata } = planted
  const message = `${kind} ${metadata.name} exists, and its status does not record that it is kept for this Application: delete it, rename the volume or the Application, or have a platform admin record it (guide: Processes, schedules, volumes and domains, Volumes)`
  return { reason: applicationReasons.nameConflict, message }
}

/** The `entryText` of the account of its grants. */
function accountEntry({ metadata }: Application): string {
  const { apiVersion, kind } = serviceAccounts
  return entryText({ apiVersion, kind, name: applicationAccount(metadata.name) })
}

/**
 * Applies the manifests in order and halts at the first refusal: later ones may refer to what was refused.
 * @throws KubeError when a retry may succeed, and what `assertCurrent` throws
 */
export async function applyObjects(target: Target, manifests: readonly Manifest[], known: KnownObjects): Promise<AppliedObjects> {
  const live = new Map<string, KubeObject>()
  const account = accountEntry(target.application)
  const leavesAccount = known.named.has(account) && !manifests.some(manifest => entryText(entryOf(manifest)) === account)
  const writing = { ...target, autoscaled: autoscaledBy(manifests), leavesAccount }
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

/**
 * Deletes objects that are no longer rendered. Skips what is gone and what another owner controls under that name; safe to
 * repeat.
 */
export async function prune({ client, application, assertCurrent }: Target, entries: readonly InventoryEntry[]): Promise<void> {
  for (const entry of entries) {
    const type = appliedKind(entry)
    const key = { namespace: application.metadata.namespace ?? '', name: entry.name }
    const live = type && (await client.get(type, key))
    const uid = live?.metadata.uid
    if (!type || !live || uid === undefined || !owns(application, live)) continue
    await assertCurrent()
    await client.delete(type, key, { uid })
  }
}
