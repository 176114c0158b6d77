// Makes the previews be as they were chosen: removes, makes and wakes. Every write may be repeated after a crash.
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import { wakeAnnotation } from '../../api/names.ts'
import { keyOf } from '../../api/resource.ts'
import { serviceOf } from '../../api/services/application-services.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { uidOf } from '../../kube/object/owner.ts'
import type { Clock } from '../../lib/clock.ts'
import { ensureOwned, ensurePart } from '../kit/owned-application/ensure-owned.ts'
import { isEnding } from '../kit/owned-application/last-hook.ts'
import { removeOwned, removePart } from '../kit/owned-application/remove-owned.ts'
import { isLeaving } from '../kit/owned-application/state.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import type { Entry, Standing } from './choose.ts'
import { desiredApplication, desiredRemoteSync, desiredServices, type PreviewFacts, serviceFactsOf } from './desired.ts'
import type { Preview } from './gather.ts'
import { isBehind } from './preview/behind.ts'
import { isDeleted, isService, type PreviewService, serviceType, split, wall } from './preview/own-services.ts'
import type { BranchTip, KnownPullRequests } from './pull-requests/known.ts'

export type ApplyDeps = {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch' | 'delete'>
  readonly clock: Clock
  readonly ingress: PreviewFacts['ingress']
  readonly fieldManager: string
}

/** What the API server refused, by number, and how long hooks may still take. */
export type Applied = { readonly refused: ReadonlyMap<number, Standing>; readonly waits: readonly number[] }

export type ToApply = {
  readonly pipeline: AppPipeline
  readonly entries: readonly Entry[]
  readonly known: KnownPullRequests | undefined
  /** Those that the template names. */
  readonly classes: ReadonlyMap<string, ServiceClass>
}

/**
 * Removals first: they free places and quota, and must go on, also when GitHub does not answer.
 * @throws KubeError when a retry may succeed
 */
export async function applyPreviews(deps: ApplyDeps, wanted: ToApply, signal: AbortSignal): Promise<Applied> {
  const { pipeline, entries, known, classes } = wanted
  const refused = new Map<number, Standing>()
  const leaving = entries.flatMap(entry => (entry.preview !== undefined && mustLeave(entry, wanted) ? [entry.preview] : []))
  const waits = await removePreviews(deps, pipeline, leaving)
  for (const entry of entries) {
    if (entry.action !== 'keep' || known === undefined) continue
    signal.throwIfAborted()
    // What is being deleted, by whomever, is made again when it is gone.
    if (entry.preview !== undefined && (isLeaving(entry.preview) || mustLeave(entry, wanted))) continue
    const { pull, paused, preview } = entry
    const { application, remoteSync } = preview ?? {}
    const facts = { pipeline, repository: known.repository, pull, paused, ingress: deps.ingress, application, remoteSync }
    const standing =
      wall(serviceFactsOf(facts), classes) ??
      (await keepPreview(deps, { ...facts, services: preview?.services ?? [] }, known.tips.get(pull.baseBranch)))
    if (standing !== undefined) refused.set(entry.number, standing)
  }
  return { refused, waits }
}

/**
 * Also one of which somebody deletes a service that it uses: that waits until nothing uses it, and the next preview has another
 * one.
 */
function mustLeave({ action, preview, pull }: Entry, { pipeline, known }: ToApply): boolean {
  if (preview === undefined) return false
  if (action === 'remove' || isEnding(preview.application)) return true
  if (action !== 'keep' || pull === undefined || known === undefined) return false
  return split(preview.services, serviceFactsOf({ pipeline, repository: known.repository, pull })).current.some(isDeleted)
}

/** A service that it uses was deleted before it: a hook that waits for one would wait in vain. */
function usesEnded({ application, services }: Preview): boolean {
  const used = application?.spec.services?.map(serviceOf) ?? []
  return services.some(service => isDeleted(service) && used.some(one => isService(service, one)))
}

/** Resolves to how long hooks may still take. @throws KubeError */
export async function removePreviews(
  deps: Pick<ApplyDeps, 'client' | 'clock' | 'fieldManager'>,
  { spec }: AppPipeline,
  previews: readonly Preview[],
): Promise<readonly number[]> {
  const { client, clock, fieldManager } = deps
  const waits: number[] = []
  for (const preview of previews) {
    const hook = usesEnded(preview) ? undefined : spec.hooks?.deleted
    const ofHook = await removeOwned({ client, clock, fieldManager, hook }, [preview])
    waits.push(...ofHook)
    if (ofHook.length === 0) await removeServices(deps, preview.services)
  }
  return waits
}

/** They end, with their data, when no credential of them is left. */
async function removeServices({ client }: Pick<ApplyDeps, 'client'>, services: readonly PreviewService[]): Promise<void> {
  for (const service of services) await removePart({ client }, serviceType(service), service)
}

type KeptFacts = PreviewFacts & { readonly services: readonly PreviewService[] }

/** The services first: the Application waits for its own. Resolves to why the API server refuses a part of it. */
async function keepPreview(deps: ApplyDeps, facts: KeptFacts, tip: BranchTip | undefined): Promise<Standing | undefined> {
  const { client, fieldManager } = deps
  const write = { client, fieldManager, owner: facts.pipeline }
  for (const { kind, manifest } of desiredServices(facts)) {
    const { name } = manifest.metadata
    const cached = facts.services.find(service => isService(service, { kind, name }))
    const service = await ensurePart(write, serviceType({ kind }), cached, manifest)
    if (service.kind === 'refused') return service.standing
  }
  const desired = { application: desiredApplication(facts), remoteSync: desiredRemoteSync(facts) }
  const kept = await ensureOwned(write, facts, desired)
  if (kept.kind === 'refused') return kept.standing
  await removeServices(deps, split(facts.services, serviceFactsOf(facts)).former)
  const { remoteSync } = kept
  if (!facts.paused && remoteSync?.changed === false) await wake(deps, remoteSync.object, facts.pull.headCommit, tip)
  return undefined
}

/**
 * A commit that GitHub shows here and the RemoteSync does not: its own webhook was lost, or it asked GitHub a moment before the
 * push.
 */
async function wake(
  { client, clock, fieldManager }: ApplyDeps,
  remoteSync: RemoteSync,
  headCommit: string,
  tip: BranchTip | undefined,
): Promise<void> {
  const pending = wakeOf(remoteSync)
  if (!isBehind(remoteSync, headCommit, tip) || pending !== remoteSync.status?.handledWake) return
  const reason = tip === undefined ? headCommit : `${headCommit}-${tip.commit}`
  // It was woken for these commits already: GitHub's answers differ, and another question would not help.
  if (pending?.endsWith(`/${reason}`)) return
  const annotations = { [wakeAnnotation]: `${clock.now().toISOString()}/${reason}` }
  const metadata = { uid: uidOf(remoteSync), annotations }
  await client.mergePatch(remoteSyncs, keyOf(remoteSync), { metadata }, { fieldManager }).catch((error: unknown) => {
    // Another object has the name now: the cache shows it soon.
    if (!isKubeError(error, 409)) throw error
  })
}
