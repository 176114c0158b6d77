// Moves one RemoteSync from its source to a running Application, as far as it gets in one run, in four stages: Resolved, Fetched, Built, Deployed.
// Each gathers facts, decides (pure) and carries the decision out. The only file that writes, together with deployment, ending and rebase: to the
// cluster, to the builder and to the source store;
// `save` alone writes the status. Every run starts from what exists, and every write may be repeated after a crash.

import { type RemoteSync, remoteSyncReasons as reasons, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Outcome, ReconcileContext } from '../../kube/controller/controller.ts'
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Builder } from '../../services/builds/builder.ts'
import type { BuildLimiter } from '../../services/builds/limits/build-limiter.ts'
import type { SourceStore } from '../../services/builds/source-store/source-store.ts'
import { reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import { outcomeOf } from '../kit/refusal.ts'
import { ensureOwnedGrant } from '../kit/repository/ensure-owned-grant.ts'
import { ownedGrantName, planOwnedGrant } from '../kit/repository/owned-grant.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { decide } from './decide.ts'
import { type BuildAction, decideBuild, decideFetchFailure, planBuild } from './decide-build.ts'
import { fieldManager } from './deployment/apply-image.ts'
import { deployImage } from './deployment/deploy-image.ts'
import { type BuiltImage, desiredBuild, desiredSource } from './desired.ts'
import { type EndDeps, end, endBuilds, endOrphans, endRebases } from './ending/end-builds.ts'
import { buildKey, type CommitBuild, type Facts, type GatherDeps, gather, gatherBuild, sourceIdentity } from './gather.ts'
import { type Halt, halt, haltOf } from './halt.ts'
import { isPromoted } from './promotion/built-preview.ts'
import { type RebaseDeps, rebaseGoingOn, rebaseImage } from './rebase/rebase-image.ts'
import { restoreImage } from './rebase/restore-image.ts'
import { type AskDeps, askGitHub } from './source/ask-github.ts'
import { approvalMissing, approvalMissingNow, isApproved, neededApproval, secretsRefused } from './source/fork-approval.ts'
import { type OpenRepository, type OpenRepositoryDeps, openRepositoryOnce } from './source/open-repository.ts'
import { mergeConflict } from './source/pull-request.ts'
import { nextStatus, type ReconcileState, withoutCommit, withStatus, withTimes } from './status.ts'
import { isNewSpec, knownConflict, mustResolve } from './wake.ts'

export type RemoteSyncDeps = OpenRepositoryDeps &
  GatherDeps &
  AskDeps &
  EndDeps &
  RebaseDeps & {
    readonly client: Pick<KubeClient, 'get' | 'create' | 'apply' | 'mergePatch' | 'delete'>
    readonly sources: Pick<SourceStore, 'ensure' | 'revoke' | 'revokeOwner'>
    readonly builder: Builder
    readonly limiter: BuildLimiter
    readonly status: StatusWriter<RemoteSync>
    /** Called while an image is built: what is slow to start for its rollout can start now. */
    readonly prepareRollout: () => void
    /** How long GitHub may go unasked when no webhook comes. */
    readonly sweepMilliseconds: number
  }

const actor = 'sekisho:remote-sync'
/** For a builder that is not ready, and a queued build whose slot became free without the end of a build, which would wake it. */
const retryMilliseconds = 30_000

/** What one run works with. */
type Run = Pick<ReconcileContext, 'log' | 'signal'> & { readonly deps: RemoteSyncDeps; readonly facts: Facts }

/** What a stage leaves: the state so far, and either why it halted or what the next stage needs. */
type Halted = { readonly state: ReconcileState; readonly halted: Halt }
type Passed<Values> = { readonly state: ReconcileState; readonly halted?: undefined } & Values
type StageResult<Values> = Promise<Halted | Passed<Values>>
/** `requeueAfterMilliseconds`: when to look again although nothing halted. */
type Advanced = Halted | Passed<{ readonly requeueAfterMilliseconds?: number }>

type Resolved = { readonly commit: string; readonly retry: boolean; readonly repository: OpenRepository }
type Start = Extract<BuildAction, { kind: 'start' }>
type FetchedStart = Start & { readonly url: string }
type Fetched = { readonly action: Exclude<BuildAction, Start> | FetchedStart }

/** The four stages in order; the first one that halts ends the run. What runs its newest commit may get a newer run image. */
async function advance(run: Run): Promise<Advanced> {
  const resolved = await admitCommit(run, await resolveCommit(run))
  if (resolved.halted) return resolved
  const fetched = await fetchSource(run, resolved)
  if (fetched.halted) return fetched
  const built = await buildImage(run, fetched)
  if (built.halted) return built
  const deployed = await deployImage(run, built)
  if (deployed.halted) return deployed
  const { state, requeueAfterMilliseconds, rebased } = await rebaseImage(run, deployed.state)
  if (rebased === undefined) return { state, ...defined({ requeueAfterMilliseconds }) }
  // First the status: the image that it names is set on the Application at every run.
  const saved = await save(run.deps, state, undefined)
  return deployImage(run, { state: saved, ...rebased, isPromoted: false })
}

/** Resolved: the checks hold, the owned grant is approved, and the commit is known. */
async function resolveCommit({ deps, facts }: Run): StageResult<Resolved> {
  const { remoteSync, now } = facts
  const before: ReconcileState = { remoteSync, status: remoteSync.status ?? {} }
  // The commit of another source must not be built under this one, also when this run halts before GitHub is asked.
  const initial = isNewSpec(remoteSync) ? withoutCommit(before) : before
  const refused = decide(facts)
  if (refused) return { state: initial, halted: refused }
  const plan = planOwnedGrant(remoteSync, facts.grant, now)
  const granted = withStatus(initial, { grant: ownedGrantName(remoteSync) })
  if (plan.kind !== 'use') {
    const { reason, message, ...retry } = await ensureOwnedGrant(deps.client, { owner: remoteSync, plan, fieldManager })
    return { state: granted, halted: halt('Resolved', reason, message, retry) }
  }
  const conflict = knownConflict(facts, deps.sweepMilliseconds)
  if (conflict !== undefined) return { state: granted, halted: mergeConflict(conflict, now) }
  const { app = '', installationId = 0 } = facts.installation?.spec ?? {}
  const repository = openRepositoryOnce(deps, { owner: remoteSync, grant: plan.grant, app, actor }, installationId)
  const known = granted.status.commit
  if (known !== undefined && !mustResolve(facts, deps.sweepMilliseconds))
    return { state: granted, commit: known, retry: false, repository }
  try {
    const answered = await askGitHub(deps, facts, granted, repository)
    return answered.halted ? answered : { ...answered, repository }
  } catch (error) {
    return { state: granted, halted: haltOf('Resolved', error) }
  }
}

/**
 * Resolved as far as the wall for forks: of a commit that nobody approved, nothing is fetched. A build of it, or of a pull request that is closed,
 * is ended, also when this run halts for another reason: its approval may have been withdrawn.
 */
async function admitCommit({ deps, facts, log }: Run, resolved: Halted | Passed<Resolved>): StageResult<Resolved> {
  const { state, halted } = resolved
  const commit = resolved.halted ? state.status.commit : resolved.commit
  const needed = commit === undefined ? undefined : neededApproval(facts.remoteSync, state.status, commit)
  const approval = needed?.named && deps.caches.previewApprovals.get(needed.named.key)
  const refused = needed !== undefined && !isApproved(needed, approval)
  if (refused || halted?.reason === reasons.pullRequestClosed) await endBuilds(deps, facts.owner, log)
  if (halted) return resolved
  const secret = secretsRefused(facts.remoteSync, needed, 'Resolved')
  if (!refused) return secret === undefined ? resolved : { state: withoutCommit(state), halted: secret }
  return { state: withoutCommit(state), halted: approvalMissing(needed, 'Resolved') }
}

/** Fetched: the source store has the commit where the build still needs it. A build that is to start holds a slot from here on. */
async function fetchSource(run: Run, { state, commit, retry, repository }: Passed<Resolved>): StageResult<Fetched> {
  const { deps, facts } = run
  const plan = planBuild(facts, state.status, commit, retry)
  // A newer commit needs no build: what is still being built is of an older one.
  if (plan.kind === 'keepImage') await endBuilds(run.deps, run.facts.owner, run.log, rebaseGoingOn(deps, facts, plan.status))
  const action = plan.kind === 'build' ? decideBuild(facts, plan, await gatherBuild(deps, facts, plan)) : plan
  const decided = { ...state, status: action.status }
  if (action.kind === 'start') return fetchForStart(run, decided, action, repository)
  try {
    if (action.kind === 'fetchAgain') await ensureSource(run, decided, action.build, repository)
    return { state: decided, action }
  } catch (error) {
    return fetchFailed(decided, commit, error)
  }
}

async function fetchForStart(run: Run, state: ReconcileState, action: Start, repository: OpenRepository): StageResult<Fetched> {
  const { deps, facts, log } = run
  const { name, commit } = action.build
  for (const superseded of action.cancel) {
    await deps.builder.cancel(superseded)
    log.info({ build: superseded.name }, 'superseded build cancelled')
  }
  const key = buildKey(facts, name)
  const turn = { since: state.status.phases?.resolvedAt ?? time(deps), tenantLimit: facts.tenant?.concurrentBuilds ?? 0 }
  const slot = deps.limiter.tryAcquire(facts.owner, { tenant: key.namespace, name, ...turn })
  if (slot.kind === 'queued') {
    const waiting = { name, commit, attempt: state.status.build?.attempt ?? 1, queue: slot.place }
    const halted = halt('Fetched', reasons.queued, slot.message, { requeueAfterMilliseconds: retryMilliseconds })
    return { state: withStatus(state, { build: waiting }), halted }
  }
  // The status is written while the source is fetched, which costs the push no time. Both have ended before anything else is written:
  // otherwise this status could reach the API server after a later one and replace it.
  const saving = save(deps, state, halt('Fetched', reasons.fetching, `commit ${commit} is being fetched`))
  const [saved, fetched] = await Promise.allSettled([saving, ensureSource(run, state, action.build, repository)])
  if (saved.status === 'rejected' || fetched.status === 'rejected') deps.limiter.release(key)
  if (saved.status === 'rejected') throw saved.reason
  if (fetched.status === 'rejected') return fetchFailed(saved.value, commit, fetched.reason)
  return { state: withTimes(saved.value, { fetchedAt: time(deps) }), action: { ...action, url: fetched.value } }
}

/** Resolves to the URL of the source. @throws AppError with the reason ApprovalMissing when the approval has gone meanwhile */
async function ensureSource(
  { deps, facts, signal }: Run,
  { status }: ReconcileState,
  build: CommitBuild,
  { open, current }: OpenRepository,
): Promise<string> {
  const [{ access }, repository] = await Promise.all([open(), current()])
  const missing = await approvalMissingNow(deps.client, neededApproval(facts.remoteSync, status, build.commit), 'Fetched')
  if (missing) throw new AppError('forbidden', missing.message, { reason: missing.reason })
  return (await deps.sources.ensure(desiredSource(facts, build, access, repository), signal)).url
}

function fetchFailed(state: ReconcileState, commit: string, error: unknown): Halted {
  const { status, halted } = decideFetchFailure(state.status, commit, error)
  return { state: { ...state, status }, halted }
}

/** Built: there is an image of the commit. The address of the source is closed as soon as the build has ended. */
async function buildImage(run: Run, { state, action }: Passed<Fetched>): StageResult<BuiltImage> {
  const { deps, facts } = run
  if (action.kind !== 'keepImage') deps.prepareRollout()
  switch (action.kind) {
    case 'keepImage':
      return { state, image: action.image, commit: action.commit, isPromoted: takesPreview(facts.remoteSync, state) }
    case 'start':
      return startBuild(run, state, action)
    case 'wait':
    case 'fetchAgain':
      return { state, halted: action.halt }
    case 'useImage':
    case 'retryBuild':
    case 'recordFailure':
    case 'cancelAndFail':
      await deps.sources.revoke(sourceIdentity(facts, action.build))
      for (const key of action.cancel) await deps.builder.cancel(key)
      if (action.kind !== 'useImage') return { state, halted: action.halt }
      return { state, image: action.image, commit: action.commit, isPromoted: false }
  }
}

function takesPreview(remoteSync: RemoteSync, { status }: ReconcileState): boolean {
  return status.commit !== undefined && isPromoted(remoteSync, status, status.commit)
}

async function startBuild({ deps, facts }: Run, state: ReconcileState, { build, url }: FetchedStart): Promise<Halted> {
  let started = false
  const needed = neededApproval(facts.remoteSync, state.status, build.commit)
  try {
    const missing = await approvalMissingNow(deps.client, needed, 'Built')
    if (missing) {
      await deps.sources.revoke(sourceIdentity(facts, build))
      return { state, halted: missing }
    }
    const outcome = await deps.builder.start(desiredBuild(facts, build, url, state.status))
    if (outcome.kind === 'refused')
      return {
        state,
        halted: halt('Built', reasons.builderNotReady, outcome.message, { requeueAfterMilliseconds: retryMilliseconds }),
      }
    started = true
    const halted = halt('Built', reasons.building, `build ${build.name} was created`)
    return { state: withTimes(state, { buildCreatedAt: time(deps) }), halted }
  } finally {
    if (!started) deps.limiter.release(buildKey(facts, build.name))
  }
}

/** Writes the status with the conditions that the halt implies, unless it says so already. */
async function save(deps: RemoteSyncDeps, state: ReconcileState, halted: Halt | undefined): Promise<ReconcileState> {
  return { ...state, remoteSync: await deps.status.write(state.remoteSync, nextStatus(state, halted, deps.clock.now())) }
}

function time({ clock }: RemoteSyncDeps): string {
  return clock.now().toISOString()
}

async function keep(deps: RemoteSyncDeps, remoteSync: RemoteSync, { log, signal }: ReconcileContext): Promise<Outcome> {
  const facts = await restoreImage(deps, gather(deps, remoteSync), log)
  const { state, halted, ...advanced } = await advance({ deps, facts, log, signal })
  if (halted?.reason !== reasons.queued) deps.limiter.dequeue(facts.owner.uid)
  await save(deps, state, halted)
  if (halted !== undefined) await endRebases(deps, facts.owner, log)
  return outcomeOf(halted, 'requeueAfterMilliseconds' in advanced ? advanced.requeueAfterMilliseconds : undefined)
}

/** @throws what the API server, the builder or GitHub answered where a retry may help */
export async function reconcileRemoteSync(deps: RemoteSyncDeps, context: ReconcileContext): Promise<Outcome> {
  const { client, status, caches } = deps
  await endOrphans(deps, context)
  return reconcileWithFinalizer(
    {
      type: remoteSyncs,
      finalizer: fieldManager,
      client,
      cache: caches.remoteSyncs,
      status,
      keep: remoteSync => keep(deps, remoteSync, context),
      end: remoteSync => end(deps, remoteSync),
    },
    context,
  )
}
