// The third stage. Fetched: the source store has the commit where the build still needs it. A build that is to start has a slot
// from here on.
import { remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import type { Log } from '../../../lib/log.ts'
import type { Builder } from '../../../services/builds/builder.ts'
import type { BuildLimiter } from '../../../services/builds/limits/build-limiter.ts'
import type { SourceStore } from '../../../services/builds/source-store/source-store.ts'
import { type BuildAction, decideBuild, decideFetchFailure, planBuild } from '../decide-build.ts'
import { desiredSource } from '../desired.ts'
import { type EndDeps, endBuilds } from '../ending/end-builds.ts'
import { buildKey, type CommitBuild, type Facts, type GatherDeps, gatherBuild } from '../gather.ts'
import { type Halt, halt } from '../halt.ts'
import { type RebaseDeps, rebaseGoingOn } from '../rebase/rebase-image.ts'
import { underApproval } from '../source/fork-wall.ts'
import type { OpenRepository } from '../source/open-repository.ts'
import type { Resolved } from '../source/resolve-commit.ts'
import { type Passed, type SaveDeps, type StageResult, save } from '../stage.ts'
import { type ReconcileState, type RemoteSyncStatus, withStatus, withTimes } from '../status.ts'

export type FetchDeps = SaveDeps &
  GatherDeps &
  Pick<EndDeps, 'builder' | 'sources'> &
  Pick<RebaseDeps, 'builder' | 'limiter' | 'rebaser'> & {
    readonly client: Pick<KubeClient, 'get'>
    readonly sources: Pick<SourceStore, 'ensure'>
    readonly builder: Pick<Builder, 'cancel'>
    readonly limiter: Pick<BuildLimiter, 'tryAcquire' | 'release'>
  }

type Run = { readonly deps: FetchDeps; readonly facts: Facts; readonly log: Log; readonly signal: AbortSignal }

type Start = Extract<BuildAction, { kind: 'start' }>
export type FetchedStart = Start & { readonly url: string }
/** What is to be done about the build; for one that is to start, the address of its source. */
export type Fetched = { readonly action: Exclude<BuildAction, Start> | FetchedStart }

/** A queued build whose slot became free without the end of a build, which would wake it. */
const queuedRetryMilliseconds = 30_000

export async function fetchSource(run: Run, { state, commit, retry, repository }: Passed<Resolved>): StageResult<Fetched> {
  const { deps, facts, log } = run
  const plan = planBuild(facts, state.status, commit, retry)
  // A newer commit needs no build: what is still being built is of an older one.
  if (plan.kind === 'keepImage') await endBuilds(deps, facts.owner, log, rebaseGoingOn(deps, facts, plan.status))
  const action = plan.kind === 'build' ? decideBuild(facts, plan, await gatherBuild(deps, facts, plan)) : plan
  const decided = { ...state, status: action.status }
  if (action.kind === 'start') return fetchForStart(run, decided, action, repository)
  const failed = action.kind === 'fetchAgain' ? await ensureSource(run, decided, action.build, repository) : undefined
  return failed?.halted === undefined
    ? { state: decided, action }
    : { state: { ...decided, status: failed.status }, halted: failed.halted }
}

async function fetchForStart(run: Run, state: ReconcileState, action: Start, repository: OpenRepository): StageResult<Fetched> {
  const { deps, facts, log } = run
  const { name, commit } = action.build
  for (const superseded of action.cancel) {
    await deps.builder.cancel(superseded)
    log.info({ build: superseded.name }, 'superseded build cancelled')
  }
  const key = buildKey(facts, name)
  const since = state.status.phases?.resolvedAt ?? deps.clock.now().toISOString()
  const turn = { since, tenantLimit: facts.tenant?.concurrentBuilds ?? 0 }
  const slot = deps.limiter.tryAcquire(facts.owner, { tenant: key.namespace, name, ...turn })
  if (slot.kind === 'queued') {
    const waiting = { attempt: 1, ...state.status.build, name, commit, queue: slot.place }
    const halted = halt('Fetched', reasons.queued, slot.message, { requeueAfterMilliseconds: queuedRetryMilliseconds })
    return { state: withStatus(state, { build: waiting }), halted }
  }
  // The status is written while the source is fetched, which costs the push no time. Both have ended before anything else
  // is written: otherwise this status could reach the API server after a later one and replace it.
  const saving = save(deps, state, halt('Fetched', reasons.fetching, `commit ${commit} is being fetched`))
  const [saved, fetched] = await Promise.allSettled([saving, ensureSource(run, state, action.build, repository)])
  const source = fetched.status === 'fulfilled' ? fetched.value : undefined
  if (saved.status === 'rejected' || source?.url === undefined) deps.limiter.release(key)
  if (saved.status === 'rejected') throw saved.reason
  if (fetched.status === 'rejected') throw fetched.reason
  if (fetched.value.halted) return { state: { ...saved.value, status: fetched.value.status }, halted: fetched.value.halted }
  const fetchedAt = deps.clock.now().toISOString()
  return { state: withTimes(saved.value, { fetchedAt }), action: { ...action, url: fetched.value.url } }
}

type Source =
  | { readonly url: string; readonly halted?: undefined }
  | { readonly halted: Halt; readonly status: RemoteSyncStatus; readonly url?: undefined }

/** The URL of the source, or why there is none. @throws an error that is not of GitHub, the token desk or the source store */
async function ensureSource(
  { deps, facts, signal }: Run,
  { status }: ReconcileState,
  build: CommitBuild,
  { open, current }: OpenRepository,
): Promise<Source> {
  try {
    const [{ access }, repository] = await Promise.all([open(), current()])
    const source = await underApproval(deps.client, { ...facts, status, commit: build.commit, stage: 'Fetched' }, () =>
      deps.sources.ensure(desiredSource(facts, build, access, repository), signal),
    )
    return source.halted ? { halted: source.halted, status } : { url: source.done.url }
  } catch (error) {
    return decideFetchFailure(status, build.commit, error)
  }
}
