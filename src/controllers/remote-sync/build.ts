// The stages Fetched and Built: gets one commit built into one image, once. Starts, watches and judges the build; cancels what the new
// commit made pointless; closes the source's address as soon as the build has ended. A failed commit rests until something changes.
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { BuildState } from '../../builds/builder.ts'
import type { SourceIdentity } from '../../builds/source-store/source-address.ts'
import { stopOf } from './access.ts'
import { type BuildPlan, buildName, planBuild } from './build-plan.ts'
import { tenantBuildLimit } from './gather.ts'
import { reasons, type Stage, type Stop, stop } from './progress.ts'
import { accessOf, buildKey, change, moment, phase, type Run, save } from './run.ts'

const refusedRetryMilliseconds = 30_000
/** The address outlives the build by the time in which a build without an end is given up. */
const sourceGraceSeconds = 300
/** A build that ends wakes who waits; this catches a slot that came free without one. */
const queuedRetryMilliseconds = 30_000
const keptBuilds = 3
/** How often a build may be made anew because it did not get its source: the platform was away, or its network was. */
const mostUnread = 3
const unreadRetryMilliseconds = 2_000

function identityOf(run: Run, name: string, commit: string): SourceIdentity {
  return { namespace: buildKey(run, name).namespace, build: name, commit }
}

function fail(run: Run, commit: string, stage: 'Fetched' | 'Built', reason: string, message: string): Stop {
  change(run, { failedCommit: commit, failure: { stage, reason, message: message.slice(0, 2048) } })
  return stop(stage, reason, message)
}

/** A failure that is still true keeps its story. */
function standingFailure(run: Run): Stop {
  const { stage, reason, message } = run.draft.failure ?? {
    stage: 'Built' as const,
    reason: reasons.buildFailed,
    message: 'the last build of this commit failed',
  }
  return stop(stage, reason, message)
}

/** Builds of older commits that still run are work for nothing. */
async function cancelSuperseded(run: Run, wanted: string): Promise<void> {
  for (const { key, ended } of run.deps.builder.ofOwner(run.owner)) {
    if (ended || key.name === wanted) continue
    await run.deps.builder.cancel(key)
    run.log.info({ build: key.name }, 'superseded build cancelled')
  }
}

async function deleteOldBuilds(run: Run, current: string): Promise<void> {
  const ended = run.deps.builder.ofOwner(run.owner).filter(build => build.ended && build.key.name !== current)
  for (const { key } of ended.slice(keptBuilds - 1)) await run.deps.builder.cancel(key)
}

async function fetchSource(run: Run, grant: RepositoryGrant, plan: BuildPlan): Promise<string> {
  const { sources } = run.deps
  const { endpoints, token, repository } = await accessOf(run, grant)
  const { url } = await sources.ensure(
    {
      identity: identityOf(run, plan.name, plan.commit),
      owner: run.owner.uid,
      lifetimeSeconds: run.remoteSync.spec.build.timeoutSeconds + sourceGraceSeconds,
      repositoryUrl: `${endpoints.web}/${repository.fullName}.git`,
      web: endpoints.web,
      commit: plan.commit,
      token,
    },
    run.signal,
  )
  return url
}

/** Stops at `stage`; what can never succeed for this commit is remembered as its failure. */
function stopOrFail(run: Run, stage: Stage, commit: string, error: unknown): Stop {
  const stopped = stopOf(stage, error)
  const permanent: readonly string[] = [reasons.commitNotFound, reasons.sourceTooLarge]
  return permanent.includes(stopped.reason) ? fail(run, commit, 'Fetched', stopped.reason, stopped.message) : stopped
}

async function startBuild(run: Run, grant: RepositoryGrant, plan: BuildPlan): Promise<Stop> {
  const { deps, remoteSync } = run
  const { spec } = remoteSync
  if (!run.facts.application) {
    const message = `spec.application: there is no Application ${spec.application} in this namespace: create it, a RemoteSync never does`
    return stop('Fetched', reasons.applicationNotFound, message)
  }
  await cancelSuperseded(run, plan.name)
  const key = buildKey(run, plan.name)
  const candidate = { tenant: key.namespace, name: plan.name, since: run.draft.phases?.resolvedAt ?? moment(run) }
  const limits = { platform: deps.platformBuilds, ofTenant: (tenant: string) => tenantBuildLimit(deps.caches, tenant) }
  const slot = deps.slots.take(run.owner, candidate, limits)
  if (slot.kind === 'queued') return stop('Fetched', reasons.queued, slot.message, { afterMilliseconds: queuedRetryMilliseconds })
  let started = false
  try {
    // Both at once, and both ended before anything else is written: the later status must be the last one.
    const fetching = stop('Fetched', reasons.fetching, `commit ${plan.commit} is being fetched`)
    const [saved, fetched] = await Promise.allSettled([save(run, fetching), fetchSource(run, grant, plan)])
    if (saved.status === 'rejected') throw saved.reason
    if (fetched.status === 'rejected') throw fetched.reason
    const url = fetched.value
    phase(run, { fetchedAt: moment(run) })
    const outcome = await deps.builder.start({
      key,
      owner: run.owner,
      application: spec.application,
      source: { url, commit: plan.commit, ...(spec.subPath === undefined ? {} : { subPath: spec.subPath }) },
      env: spec.build.env ?? [],
      timeoutSeconds: spec.build.timeoutSeconds,
      ...(run.draft.image === undefined ? {} : { previousImage: run.draft.image }),
    })
    if (outcome.kind === 'refused')
      return stop('Built', reasons.builderNotReady, outcome.message, { afterMilliseconds: refusedRetryMilliseconds })
    started = true
    phase(run, { buildCreatedAt: moment(run) })
    return stop('Built', reasons.building, `build ${plan.name} was made`)
  } catch (error) {
    return stopOrFail(run, 'Fetched', plan.commit, error)
  } finally {
    if (!started) deps.slots.giveBack(key)
  }
}

function failureMessage({ step, detail, sourceUnread }: Extract<BuildState, { kind: 'failed' }>): string {
  const cure = sourceUnread
    ? 'the platform did not give it its source: ask a platform admin, then push again'
    : 'mend it and push again'
  return `step ${step} failed: ${detail}\n(${cure})`
}

/** The builder does not ask twice: what ended because our source store did not answer is made anew under the next attempt. */
function tryAnew(run: Run, plan: BuildPlan): Stop {
  const attempt = plan.attempt + 1
  const name = buildName(run.remoteSync, plan.commit, attempt)
  change(run, { build: { name, commit: plan.commit, attempt } })
  const message = `build ${plan.name} could not read its source from the platform: it is made anew as ${name}`
  return stop('Fetched', reasons.fetching, message, { afterMilliseconds: unreadRetryMilliseconds * plan.attempt })
}

/** Made by a process that died before it could say so: these times are then those at which the build was found. */
function rememberMade(run: Run): void {
  const { fetchedAt, buildCreatedAt } = run.draft.phases ?? {}
  if (buildCreatedAt === undefined) phase(run, { fetchedAt: fetchedAt ?? moment(run), buildCreatedAt: moment(run) })
}

/** kpack's times have whole seconds: a start before its own creation is shown as the creation. */
function rememberStart(run: Run, state: BuildState): void {
  if (!('startedAt' in state) || state.startedAt === undefined || run.draft.phases?.buildStartedAt !== undefined) return
  const started = Date.parse(state.startedAt)
  const created = Date.parse(run.draft.phases?.buildCreatedAt ?? state.startedAt)
  phase(run, { buildStartedAt: new Date(Math.max(started, created)).toISOString() })
}

async function judge(
  run: Run,
  grant: RepositoryGrant,
  plan: BuildPlan,
  state: Exclude<BuildState, { kind: 'absent' }>,
): Promise<Stop | undefined> {
  const { deps } = run
  const key = buildKey(run, plan.name)
  const identity = identityOf(run, plan.name, plan.commit)
  rememberMade(run)
  rememberStart(run, state)
  if (state.kind === 'running') {
    try {
      // After a restart on another disk the source is gone while a builder is about to ask for it.
      if (state.needsSource && !(await deps.sources.has(identity))) await fetchSource(run, grant, plan)
    } catch (error) {
      return stopOrFail(run, 'Fetched', plan.commit, error)
    }
    const left = Math.max(1000, state.deadline.getTime() - deps.clock.now().getTime())
    return stop('Built', reasons.building, `build ${plan.name} is in step ${state.step}`, { afterMilliseconds: left })
  }
  await deps.sources.revoke(identity)
  switch (state.kind) {
    case 'failed':
      if (state.sourceUnread && plan.attempt < mostUnread) return tryAnew(run, plan)
      return fail(run, plan.commit, 'Built', reasons.buildFailed, failureMessage(state))
    case 'timed-out': {
      await deps.builder.cancel(key)
      const message = `the build was ended after spec.build.timeoutSeconds: ${state.detail}; make it faster, or raise the time`
      return fail(run, plan.commit, 'Built', reasons.buildTimedOut, message)
    }
    case 'succeeded':
      if (state.commit !== plan.commit) {
        const message = `build ${plan.name} was made from commit ${state.commit || 'unknown'}, not ${plan.commit}: its image is not used`
        return fail(run, plan.commit, 'Built', reasons.wrongCommit, message)
      }
      change(run, { image: state.image, imageCommit: plan.commit, imageBuild: plan.name })
      phase(run, { builtAt: moment(run) })
      await deleteOldBuilds(run, plan.name)
      return undefined
    default: {
      const never: never = state
      return never
    }
  }
}

/** Goes on (undefined) when the draft's image was built from the draft's commit. */
export async function ensureBuilt(run: Run, grant: RepositoryGrant, commit: string, retry: boolean): Promise<Stop | undefined> {
  const plan = planBuild(run.remoteSync, run.draft, commit, retry)
  const { name, attempt } = plan
  if (plan.state === 'failed') return standingFailure(run)
  const { failedCommit, failure, ...rest } = run.draft
  run.draft = { ...rest, build: { name, commit, attempt } }
  if (plan.state === 'built') return undefined
  const state = await run.deps.builder.observe(buildKey(run, name), run.owner)
  return state.kind === 'absent' ? startBuild(run, grant, plan) : judge(run, grant, plan, state)
}
