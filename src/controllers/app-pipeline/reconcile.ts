// Keeps the previews of one AppPipeline: asks GitHub which pull requests are open, chooses (pure), makes and removes Applications and RemoteSyncs,
// reports. The only file that writes. Every run starts from what exists; every write may be repeated after a crash, and what a run did not come to is
// found by the next one, because the labels and owner of what exists say to which pull request it belongs.
import { type AppPipeline, appPipeline as appPipelines } from '../../api/apps/app-pipeline.ts'
import { application as applications } from '../../api/apps/application.ts'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import { wakeAnnotation } from '../../api/names.ts'
import { type KubeObject, keyOf, type ResourceType } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { uidOf } from '../../kube/object/owner.ts'
import type { Clock } from '../../lib/clock.ts'
import { type ReportWait, reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import type { Refusal } from '../kit/refusal.ts'
import { ensureOwnedGrant } from '../kit/repository/ensure-owned-grant.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import { type AccessDeps, accessOnce, ownedGrantName, planOwnedGrant } from '../kit/repository/owned-grant.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { type Entry, type Standing, withoutAnswer } from './choose.ts'
import { decide, haltOf, mustList } from './decide.ts'
import type { PreviewFacts } from './desired.ts'
import { desiredApplication, desiredRemoteSync } from './desired.ts'
import { type AppPipelineCaches, type Facts, gather, type Preview } from './gather.ts'
import { ensurePart } from '../kit/owned-application/ensure-owned.ts'
import { endStep, isEnding } from '../kit/owned-application/last-hook.ts'
import { isBehind, isLeaving } from '../kit/owned-application/state.ts'
import { type AskDeps, learn, list } from './observe/fetch-details.ts'
import type { BranchTip, KnownPullRequests, PullRequestMemory } from './pull-requests/known.ts'
import { eventsOf, nextStatus } from './status.ts'

export type AppPipelineDeps = AccessDeps &
  AskDeps & {
    readonly client: Pick<KubeClient, 'get' | 'create' | 'apply' | 'mergePatch' | 'delete'>
    readonly caches: AppPipelineCaches
    readonly memory: PullRequestMemory
    readonly clock: Clock
    readonly status: StatusWriter<AppPipeline>
    readonly awaitReports: ReportWait
    readonly events: Pick<EventRecorder, 'record'>
    readonly ingress: PreviewFacts['ingress']
    /** How long GitHub may go unasked when no webhook comes. */
    readonly sweepMilliseconds: number
  }

export const fieldManager = 'sekisho.dev/app-pipeline'
const finalizer = fieldManager
const actor = 'sekisho:app-pipeline'

/** What the cluster refuses today it may accept later, such as after a quota is raised; GitHub's list may be complete again. */
const refusedRetryMilliseconds = 60_000
/** The deletion of the last object wakes the AppPipeline; this is for one whose event is lost. */
const endMilliseconds = 30_000

type Seen = {
  readonly known: KnownPullRequests | undefined
  readonly halt: Refusal | undefined
  readonly grant: string | undefined
  readonly entries: readonly Entry[]
}

/** What GitHub says, as far as it answers. Without a complete list nothing is made or removed. */
async function look(deps: AppPipelineDeps, facts: Facts, signal: AbortSignal): Promise<Seen> {
  const { pipeline, now } = facts
  const blind = { known: facts.known, entries: withoutAnswer(facts) }
  const refused = decide(facts)
  if (refused) return { ...blind, halt: refused, grant: undefined }
  const plan = planOwnedGrant(pipeline, facts.grant, now)
  const grant = ownedGrantName(pipeline)
  if (plan.kind !== 'use') {
    return { ...blind, halt: await ensureOwnedGrant(deps.client, { owner: pipeline, plan, fieldManager }), grant }
  }
  const { app = '', installationId = 0 } = facts.installation?.spec ?? {}
  const github = { access: accessOnce(deps, { owner: pipeline, grant: plan.grant, app, actor }), installationId, signal }
  const uid = uidOf(pipeline)
  try {
    const known =
      facts.known !== undefined && !mustList(facts, deps.sweepMilliseconds) ? facts.known : await list(deps, facts, github)
    deps.memory.set(uid, known)
    const learned = await learn(deps, { ...facts, known }, github)
    deps.memory.set(uid, learned.known)
    return { known: learned.known, halt: learned.halt, grant, entries: learned.choice.entries }
  } catch (error) {
    return { ...blind, halt: haltOf(error), grant }
  }
}

/** A commit that GitHub shows here and the RemoteSync does not: its own webhook was lost, or it asked GitHub a moment before the push. */
async function wake(
  { client, clock }: AppPipelineDeps,
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

/** The Application first: a RemoteSync without one reports an error. Resolves to why the API server refuses one of them. */
async function keepPreview(
  deps: AppPipelineDeps,
  facts: PreviewFacts,
  tip: BranchTip | undefined,
): Promise<Standing | undefined> {
  const write = { client: deps.client, pipeline: facts.pipeline, fieldManager }
  const application = await ensurePart(write, applications, facts.application, desiredApplication(facts))
  if (application.kind === 'refused') return application.standing
  const remoteSync = await ensurePart(write, remoteSyncs, facts.remoteSync, desiredRemoteSync(facts))
  if (remoteSync.kind === 'refused') return remoteSync.standing
  if (!facts.paused && !remoteSync.changed) await wake(deps, remoteSync.object, facts.pull.headCommit, tip)
  return undefined
}

async function remove<T extends KubeObject>(
  { client }: AppPipelineDeps,
  type: ResourceType<T>,
  object: T | undefined,
): Promise<void> {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return
  await client.delete(type, keyOf(object), { uid: uidOf(object) })
}

/**
 * The RemoteSync first: it would build for an Application that is gone. Resolves to how long the hook may still take, when it has to run.
 * @throws KubeError 409, so that the key is retried, when the cache is behind
 */
async function removePreview(deps: AppPipelineDeps, { spec }: AppPipeline, preview: Preview): Promise<number | undefined> {
  await remove(deps, remoteSyncs, preview.remoteSync)
  const { application } = preview
  if (application === undefined || application.metadata.deletionTimestamp !== undefined) return undefined
  const step = endStep(spec.hooks?.deleted, application, deps.clock.now())
  if (step.kind === 'delete') await remove(deps, applications, application)
  if (step.kind === 'begin') await deps.client.mergePatch(applications, keyOf(application), step.patch, { fieldManager })
  return step.kind === 'delete' ? undefined : step.milliseconds
}

/** Removals that must go on, also when GitHub does not answer. Resolves to when to look again, in milliseconds; empty when no hook runs. */
async function removePreviews(
  deps: AppPipelineDeps,
  pipeline: AppPipeline,
  previews: readonly Preview[],
): Promise<readonly number[]> {
  const waits: number[] = []
  for (const preview of previews) {
    const wait = await removePreview(deps, pipeline, preview)
    if (wait !== undefined) waits.push(wait)
  }
  return waits
}

/** What the API server refused, by number, and how long hooks may still take. */
type Carried = { readonly refused: ReadonlyMap<number, Standing>; readonly waits: readonly number[] }

/** Carries the choice out. Removals first: they free places and quota. */
async function carryOut(deps: AppPipelineDeps, facts: Facts, seen: Seen, signal: AbortSignal): Promise<Carried> {
  const { pipeline } = facts
  const refused = new Map<number, Standing>()
  const leaving = seen.entries.flatMap(({ action, preview }) =>
    preview !== undefined && (action === 'remove' || isEnding(preview.application)) ? [preview] : [],
  )
  const waits = await removePreviews(deps, pipeline, leaving)
  for (const entry of seen.entries) {
    if (entry.action !== 'keep' || seen.known === undefined) continue
    signal.throwIfAborted()
    // What is being deleted, by whomever, is made again when it is gone.
    if (entry.preview !== undefined && isLeaving(entry.preview)) continue
    const { pull, paused, preview } = entry
    const { repository, tips } = seen.known
    const { application, remoteSync } = preview ?? {}
    const { ingress } = deps
    const wanted = { pipeline, repository, pull, paused, ingress, application, remoteSync }
    const standing = await keepPreview(deps, wanted, tips.get(pull.baseBranch))
    if (standing !== undefined) refused.set(entry.number, standing)
  }
  return { refused, waits }
}

async function keep(deps: AppPipelineDeps, pipeline: AppPipeline, { signal }: ReconcileContext): Promise<Outcome> {
  const facts = gather(deps, pipeline)
  const seen = await look(deps, facts, signal)
  const { refused, waits } = await carryOut(deps, facts, seen, signal)
  const { known, halt, grant, entries } = seen
  const status = nextStatus({ pipeline, now: deps.clock.now(), entries, refused, known, halt, grant })
  const events = eventsOf(pipeline.status, status)
  await deps.status.write(pipeline, status)
  for (const event of events) deps.events.record(pipeline, event)
  if (halt?.requeueAfterMilliseconds !== undefined) return requeueAfter(halt.requeueAfterMilliseconds)
  if (halt?.error !== undefined) throw halt.error
  const isIncomplete = known !== undefined && known.missing.size > 0
  return requeueAfterSoonest(...waits, refused.size > 0 || isIncomplete ? refusedRetryMilliseconds : undefined)
}

/** Removes all previews, and waits until they are gone. */
async function end(deps: AppPipelineDeps, pipeline: AppPipeline): Promise<Outcome | undefined> {
  deps.memory.delete(uidOf(pipeline))
  const { previews } = gather(deps, pipeline)
  const waits = await removePreviews(deps, pipeline, [...previews.values()])
  if (previews.size > 0) return requeueAfterSoonest(endMilliseconds, ...waits)
  return deps.awaitReports(uidOf(pipeline))
}

/** @throws what the API server or GitHub answered where a retry may help */
export function reconcileAppPipeline(deps: AppPipelineDeps, context: ReconcileContext): Promise<Outcome> {
  const { client, status, caches } = deps
  return reconcileWithFinalizer(
    {
      type: appPipelines,
      finalizer,
      client,
      cache: caches.pipelines,
      status,
      keep: pipeline => keep(deps, pipeline, context),
      end: pipeline => end(deps, pipeline),
    },
    context,
  )
}
