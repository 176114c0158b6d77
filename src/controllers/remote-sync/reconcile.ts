// Moves one RemoteSync from its source to a running Application, as far as it gets in one run, in four stages: Resolved, Fetched, Built,
// Deployed. Each stage gathers facts, decides (pure) and carries the decision out. The only file of the folder that writes: to the cluster
// (its grant by `ensureOwnedGrant`), to the builder and to the source store; `save` alone writes the status. Level-based: every run starts from what exists, and every write
// may be repeated after a crash. A grant, a build, an Application or a webhook wakes it; the sweep finds the rest.
import { type Application, application as applications } from '../../api/apps/application.ts'
import { type RemoteSync, remoteSyncReasons as reasons, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import type { BuildLimiter } from '../../builds/build-limiter.ts'
import type { Builder } from '../../builds/builder.ts'
import type { SourceStore } from '../../builds/source-store/source-store.ts'
import type { Applied, KubeClient } from '../../kube/client/client.ts'
import { isGone } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { ensureOwnedGrant } from '../ensure-owned-grant.ts'
import { wakeOf } from '../observed-wake.ts'
import { ownedGrantName, planOwnedGrant } from '../owned-grant.ts'
import { reconcileWithFinalizer } from '../reconcile-with-finalizer.ts'
import type { StatusWriter } from '../status-writer.ts'
import { decide } from './decide.ts'
import { type BuildAction, decideBuild, decideFetchFailure, planBuild } from './decide-build.ts'
import { type BuiltImage, decideDeploy, decideRollout } from './decide-deploy.ts'
import { desiredBuild, desiredSource } from './desired.ts'
import { buildKey, type CommitBuild, type Facts, type GatherDeps, gather, gatherBuild, sourceIdentity } from './gather.ts'
import { applicationNotFound, type Halt, halt, haltOf } from './halt.ts'
import { type OpenRepository, type OpenRepositoryDeps, openRepositoryOnce } from './source/open-repository.ts'
import { findCommit } from './source/resolve.ts'
import { nextStatus, type ReconcileState, withoutCommit, withStatus, withTimes } from './status.ts'
import { isNewSpec, mayRetry, mustResolve, signalledAt } from './wake.ts'

export type RemoteSyncDeps = OpenRepositoryDeps &
  GatherDeps & {
    readonly client: Pick<KubeClient, 'get' | 'create' | 'apply' | 'mergePatch' | 'delete'>
    readonly sources: Pick<SourceStore, 'ensure' | 'revoke' | 'revokeOwner'>
    readonly builder: Builder
    readonly limiter: BuildLimiter
    readonly status: StatusWriter<RemoteSync>
    /** How long GitHub may go unasked when no webhook comes. */
    readonly sweepMilliseconds: number
  }

export const fieldManager = 'sekisho.dev/remote-sync'
const finalizer = fieldManager
const actor = 'sekisho:remote-sync'

/** For a builder that is not ready, and a queued build whose slot became free without the end of a build, which would wake it. */
const retryMilliseconds = 30_000

/** What one run works with. */
type Run = Pick<ReconcileContext, 'log' | 'signal'> & { readonly deps: RemoteSyncDeps; readonly facts: Facts }

/** What a stage leaves: the state so far, and either why it halted or what the next stage needs. */
type Halted = { readonly state: ReconcileState; readonly halted: Halt }
type Passed<Values> = { readonly state: ReconcileState; readonly halted?: undefined } & Values
type StageResult<Values> = Promise<Halted | Passed<Values>>

type Resolved = { readonly commit: string; readonly retry: boolean; readonly repository: OpenRepository }
type Start = Extract<BuildAction, { kind: 'start' }>
type FetchedStart = Start & { readonly url: string }
type Fetched = { readonly action: Exclude<BuildAction, Start> | FetchedStart }

/** The four stages in order; the first one that halts ends the run. */
async function advance(run: Run): StageResult<unknown> {
  const resolved = await resolveCommit(run)
  if (resolved.halted) return resolved
  const fetched = await fetchSource(run, resolved)
  if (fetched.halted) return fetched
  const built = await buildImage(run, fetched)
  if (built.halted) return built
  return deployImage(run, built)
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
    await ensureOwnedGrant(deps.client, { owner: remoteSync, plan, fieldManager })
    return { state: granted, halted: halt('Resolved', plan.reason, plan.message) }
  }
  const { app = '', installationId = 0 } = facts.installation?.spec ?? {}
  const repository = openRepositoryOnce(deps, { owner: remoteSync, grant: plan.grant, app, actor }, installationId)
  const known = granted.status.commit
  if (known !== undefined && !mustResolve(facts, deps.sweepMilliseconds))
    return { state: granted, commit: known, retry: false, repository }
  try {
    return await askGitHub(deps, facts, granted, repository)
  } catch (error) {
    return { state: granted, halted: haltOf('Resolved', error) }
  }
}

/** Asks by id for the commit and for the present name, at the same time. */
async function askGitHub(
  deps: RemoteSyncDeps,
  { remoteSync, owner, now }: Facts,
  granted: ReconcileState,
  repository: OpenRepository,
): StageResult<Resolved> {
  const { access, client } = await repository.open()
  const { source, repository: requested } = remoteSync.spec
  const { current } = repository
  const [{ id, fullName }, commit] = await Promise.all([current(), findCommit(client, source, { ...access.repository, current })])
  deps.lastChecks.set(owner.uid, now)
  const wake = wakeOf(remoteSync)
  const checked = withStatus(granted, {
    repository: { id, name: fullName, requested },
    ...(wake === undefined ? {} : { handledWake: wake }),
  })
  if (typeof commit !== 'string') return { state: withoutCommit(checked), halted: commit }
  const phases = { signalledAt: signalledAt(remoteSync, now), resolvedAt: time(deps) }
  const state = withStatus(checked, commit === remoteSync.status?.commit ? { commit } : { commit, phases })
  return { state, commit, retry: mayRetry(remoteSync), repository }
}

/** Fetched: the source store has the commit where the build still needs it. A build that is to start holds a slot from here on. */
async function fetchSource(run: Run, { state, commit, retry, repository }: Passed<Resolved>): StageResult<Fetched> {
  const { deps, facts } = run
  const plan = planBuild(facts, state.status, commit, retry)
  const action = plan.kind === 'build' ? decideBuild(facts, plan, await gatherBuild(deps, facts, plan)) : plan
  const decided = { ...state, status: action.status }
  if (action.kind === 'start') return fetchForStart(run, decided, action, repository)
  try {
    if (action.kind === 'fetchAgain') await ensureSource(run, action.build, repository)
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
  const since = state.status.phases?.resolvedAt ?? time(deps)
  const tenantLimit = facts.tenant?.concurrentBuilds ?? 0
  const slot = deps.limiter.tryAcquire(facts.owner, { tenant: key.namespace, name, since, tenantLimit })
  if (slot.kind === 'queued')
    return { state, halted: halt('Fetched', reasons.queued, slot.message, { afterMilliseconds: retryMilliseconds }) }
  // The status is written while the source is fetched, which costs the push no time. Both have ended before anything else is written:
  // otherwise this status could reach the API server after a later one and replace it.
  const fetching = halt('Fetched', reasons.fetching, `commit ${commit} is being fetched`)
  const [saved, fetched] = await Promise.allSettled([save(deps, state, fetching), ensureSource(run, action.build, repository)])
  if (saved.status === 'rejected' || fetched.status === 'rejected') deps.limiter.release(key)
  if (saved.status === 'rejected') throw saved.reason
  if (fetched.status === 'rejected') return fetchFailed(saved.value, commit, fetched.reason)
  return { state: withTimes(saved.value, { fetchedAt: time(deps) }), action: { ...action, url: fetched.value } }
}

/** Resolves to the URL of the source. */
async function ensureSource(
  { deps, facts, signal }: Run,
  build: CommitBuild,
  { open, current }: OpenRepository,
): Promise<string> {
  const [{ access }, repository] = await Promise.all([open(), current()])
  return (await deps.sources.ensure(desiredSource(facts, build, access, repository), signal)).url
}

function fetchFailed(state: ReconcileState, commit: string, error: unknown): Halted {
  const { status, halted } = decideFetchFailure(state.status, commit, error)
  return { state: { ...state, status }, halted }
}

/** Built: there is an image of the commit. The address of the source is closed as soon as the build has ended. */
async function buildImage(run: Run, { state, action }: Passed<Fetched>): StageResult<BuiltImage> {
  const { deps, facts } = run
  switch (action.kind) {
    case 'keepImage':
      return { state, image: action.image, commit: action.commit }
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
      return { state, image: action.image, commit: action.commit }
  }
}

async function startBuild({ deps, facts }: Run, state: ReconcileState, { build, url }: FetchedStart): Promise<Halted> {
  let started = false
  try {
    const outcome = await deps.builder.start(desiredBuild(facts, build, url, state.status.image))
    if (outcome.kind === 'refused')
      return { state, halted: halt('Built', reasons.builderNotReady, outcome.message, { afterMilliseconds: retryMilliseconds }) }
    started = true
    const halted = halt('Built', reasons.building, `build ${build.name} was created`)
    return { state: withTimes(state, { buildCreatedAt: time(deps) }), halted }
  } finally {
    if (!started) deps.limiter.release(buildKey(facts, build.name))
  }
}

/** Deployed: image and commit are set on the Application. Ready: the Application has rolled them out. */
async function deployImage({ deps, facts }: Run, { state, image, commit }: Passed<BuiltImage>): StageResult<unknown> {
  const action = decideDeploy(facts, { image, commit })
  if (action.kind === 'halt') return { state, halted: action.halt }
  const application = action.kind === 'keep' ? action.application : await applyImage(deps, action.desired)
  if (!application) return { state, halted: applicationNotFound('Deployed', facts.remoteSync.spec.application) }
  const before = action.kind === 'keep' ? state.status.phases?.deployedAt : undefined
  const deployed = withTimes(state, { deployedAt: before ?? time(deps) })
  const rollout = decideRollout(application, image, deps.clock.now())
  if (rollout.halted) return { state: deployed, halted: rollout.halted }
  return { state: withTimes(deployed, { availableAt: rollout.availableAt }) }
}

/** Resolves to undefined when the Application is gone. */
async function applyImage({ client }: RemoteSyncDeps, desired: Applied): Promise<Application | undefined> {
  try {
    return await client.apply(applications, desired, { fieldManager, force: true })
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
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
  const facts = gather(deps, remoteSync)
  const { state, halted } = await advance({ deps, facts, log, signal })
  if (halted?.reason !== reasons.queued) deps.limiter.dequeue(facts.owner.uid)
  await save(deps, state, halted)
  if (halted?.afterMilliseconds !== undefined) return requeueAfter(halted.afterMilliseconds)
  if (halted?.error !== undefined) throw halted.error
  return done
}

/**
 * Ends the builds, which the garbage collector does not reach in their own namespace, and the addresses of their sources. The grant goes by
 * its owner reference; the Application stays and keeps serving.
 */
async function end(deps: RemoteSyncDeps, { kind, metadata }: RemoteSync): Promise<undefined> {
  const { namespace = '', name, uid = '' } = metadata
  deps.lastChecks.delete(uid)
  deps.limiter.dequeue(uid)
  for (const { key } of deps.builder.ofOwner({ kind, namespace, name, uid })) await deps.builder.cancel(key)
  await deps.sources.revokeOwner(uid)
}

/**
 * Ends what is left of RemoteSyncs that went without `end`: a tenant can remove the finalizer. Its builds would occupy the tenant's slots, and
 * the addresses of its sources would stay open. The API server is asked whether the owner is gone: the cache may be behind.
 */
async function endOrphans(deps: RemoteSyncDeps, { key, log }: ReconcileContext): Promise<void> {
  const { builder, caches, client, limiter, sources } = deps
  const uid = caches.remoteSyncs.get(key)?.metadata.uid
  const suspects = builder.ofKey(remoteSyncs.kind, key).filter(({ ownerUid }) => ownerUid !== uid)
  if (suspects.length === 0) return
  const live = await client.get(remoteSyncs, key)
  const orphans = suspects.filter(({ ownerUid }) => ownerUid !== live?.metadata.uid)
  for (const ownerUid of new Set(orphans.map(orphan => orphan.ownerUid))) {
    limiter.dequeue(ownerUid)
    await sources.revokeOwner(ownerUid)
  }
  for (const orphan of orphans) {
    await builder.cancel(orphan.key)
    log.info({ build: orphan.key.name }, 'build without an owner cancelled')
  }
}

/** @throws what the API server, the builder or GitHub answered where a retry may help */
export async function reconcileRemoteSync(deps: RemoteSyncDeps, context: ReconcileContext): Promise<Outcome> {
  const { client, status, caches } = deps
  await endOrphans(deps, context)
  return reconcileWithFinalizer(
    {
      type: remoteSyncs,
      finalizer,
      client,
      cache: caches.remoteSyncs,
      status,
      keep: remoteSync => keep(deps, remoteSync, context),
      end: remoteSync => end(deps, remoteSync),
    },
    context,
  )
}
