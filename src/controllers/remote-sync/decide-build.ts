// What to do about the build of a commit: build plan × observed build × facts → one action, and the status that it implies. Pure.
// A commit that failed is not built again until something changes.
import { remoteSyncReasons as reasons } from '../../api/apps/remote-sync.ts'
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { BuildKey, BuildState } from '../../services/builds/builder.ts'
import { namedPrograms } from './application-facts.ts'
import { type BuiltImage, buildName } from './desired.ts'
import { type BuildFacts, buildKey, type CommitBuild, existingApplications, type Facts } from './gather.ts'
import { applicationNotFound, type Halt, halt, haltOf, isPermanent } from './halt.ts'
import { imageSourceOf, isPromoted } from './promotion/built-preview.ts'
import { isUnbuilt } from './source/unchanged.ts'
import { type RemoteSyncStatus, withPhases } from './status.ts'

/** Of a RemoteSync, with their logs. */
export const keptBuilds = 3
/** A build that the platform, its network or the registry did not answer is retried up to this attempt. */
export const maxAttemptsUnanswered = 3
export const unreadRetryMilliseconds = 2_000

/** The build that the commit needs, and the status that names it. */
export type WantedBuild = CommitBuild & { readonly kind: 'build'; readonly attempt: number; readonly status: RemoteSyncStatus }

export type BuildPlan =
  | WantedBuild
  /** The image was built from this commit with these inputs, or nothing that concerns it has changed since. */
  | (BuiltImage & { readonly kind: 'keepImage'; readonly status: RemoteSyncStatus })
  /** The commit failed, and nothing has changed since. */
  | { readonly kind: 'wait'; readonly status: RemoteSyncStatus; readonly halt: Halt }

/** `cancel`: the builds to cancel, which also deletes builds that have ended. */
type OfBuild = { readonly status: RemoteSyncStatus; readonly build: CommitBuild; readonly cancel: readonly BuildKey[] }

export type BuildAction =
  | Exclude<BuildPlan, WantedBuild>
  /** Cancel the builds of older commits, take a slot, fetch the source, start the build. */
  | (OfBuild & { readonly kind: 'start' })
  /** The build is running and its source is gone: fetch it again. */
  | (OfBuild & { readonly kind: 'fetchAgain'; readonly halt: Halt })
  /** The build has ended: revoke its source, and cancel. `retryBuild` leaves the next attempt to the next reconcile. */
  | (OfBuild & { readonly kind: 'retryBuild' | 'recordFailure' | 'cancelAndFail'; readonly halt: Halt })
  | (OfBuild & BuiltImage & { readonly kind: 'useImage' })

/** The image that is right although it was built from another commit. */
function imageOfAnother(facts: Facts, status: RemoteSyncStatus, commit: string): BuildPlan | undefined {
  const { image, unbuilt, promoted } = status
  if (image === undefined) return undefined
  if (promoted !== undefined && isPromoted(facts.remoteSync, status, commit))
    return { kind: 'keepImage', status, image, commit: promoted.from, isPromoted: true }
  if (unbuilt === undefined || !isUnbuilt(status, commit)) return undefined
  const { failedCommit, failure, ...kept } = status
  return { kind: 'keepImage', status: kept, image, commit: unbuilt.since, isPromoted: false }
}

/**
 * Which build the commit needs. `retry`: something changed since the last reconcile, so that a commit that failed gets another
 * attempt, as it does when the Applications name other commands.
 */
export function planBuild(facts: Facts, status: RemoteSyncStatus, commit: string, retry: boolean): BuildPlan {
  const other = imageOfAnother(facts, status, commit)
  if (other) return other
  const before = status.build?.commit === commit ? status.build : undefined
  const failed = status.failedCommit === commit && before !== undefined
  const told = namedPrograms(existingApplications(facts))
  const again = failed && (retry || (before.programs ?? told) !== told)
  const attempt = (before?.attempt ?? 1) + (again ? 1 : 0)
  const name = buildName(facts.remoteSync, commit, attempt)
  const { failedCommit, failure, ...rest } = status
  const programs = again ? told : (before?.programs ?? told)
  const planned = { ...rest, build: { name, commit, attempt, programs } }
  const { image, imageBuild } = status
  if (image !== undefined && imageBuild === name) return { kind: 'keepImage', status: planned, image, commit, isPromoted: false }
  if (!failed || again) return { kind: 'build', name, commit, attempt, status: planned }
  return { kind: 'wait', status, halt: recordedFailure(failure) }
}

function recordedFailure(failure: RemoteSyncStatus['failure']): Halt {
  const message = failure?.message ?? 'the last build of this commit failed'
  return halt(failure?.stage ?? 'Built', failure?.reason ?? reasons.buildFailed, message)
}

/** Records that the commit cannot be built, so that it is not tried again until something changes. */
function withFailure(status: RemoteSyncStatus, commit: string, { stage, reason, message }: Halt): RemoteSyncStatus {
  const failure = { stage: stage === 'Fetched' ? stage : ('Built' as const), reason, message: message.slice(0, 2048) }
  return { ...status, failedCommit: commit, failure }
}

type FetchFailure = { readonly halted: Halt; readonly status: RemoteSyncStatus }

/**
 * What a failed fetch means. An error that every retry would meet again is recorded as the failure of the commit.
 * @throws the error itself when it is not one of GitHub, the token desk or the source store
 */
export function decideFetchFailure(status: RemoteSyncStatus, commit: string, error: unknown): FetchFailure {
  const halted = haltOf('Fetched', error)
  return { halted, status: isPermanent(halted) ? withFailure(status, commit, halted) : status }
}

/**
 * Times of a build that was created by a process that ended before it could record them are those at which the build was found.
 * kpack's times have whole seconds: a start before the creation is recorded as the creation.
 */
function withBuildTimes(status: RemoteSyncStatus, state: BuildState, now: Date): RemoteSyncStatus {
  const { fetchedAt = now.toISOString(), buildCreatedAt = now.toISOString(), buildStartedAt } = status.phases ?? {}
  const startedAt = 'startedAt' in state && state.startedAt
  const started = startedAt
    ? { buildStartedAt: new Date(Math.max(Date.parse(startedAt), Date.parse(buildCreatedAt))).toISOString() }
    : {}
  return withPhases(status, { fetchedAt, buildCreatedAt, ...(buildStartedAt === undefined ? started : {}) })
}

export type FailedBuild = Extract<BuildState, { kind: 'failed' }>

function failureMessage(failed: FailedBuild): string {
  const { step, detail, cause, sourceUnread, registryRefused, registryUnreachable, platformFailure } = failed
  if (platformFailure !== undefined)
    return `${platformFailure}: this is not a mistake of yours; ask a platform admin, then push again (step ${step})`
  const unread = sourceUnread ? 'the platform did not deliver the source: ask a platform admin, then push again' : undefined
  const refused = registryRefused
    ? 'the image registry refused the credential of this build: ask a platform admin, then push again'
    : undefined
  const away = registryUnreachable
    ? 'the image registry or its token server did not answer: ask a platform admin, then push again'
    : undefined
  const ofPlatform = away ?? refused ?? unread
  if (ofPlatform === undefined && cause !== undefined)
    return `${cause}\n(step ${step} failed: correct it and push again; its log ends with:)\n${detail}`
  return `step ${step} failed: ${detail}\n(${ofPlatform ?? 'fix it and push again'})`
}

/** What a failed build could not do because something of the platform did not answer; undefined when it failed by itself. */
export function unansweredBy({ sourceUnread, registryUnreachable, platformFailure }: FailedBuild): string | undefined {
  if (platformFailure !== undefined) return `come to its end: ${platformFailure}`
  if (sourceUnread) return 'read its source from the platform'
  return registryUnreachable ? 'reach the image registry or its token server' : undefined
}

type SucceededBuild = Extract<BuildState, { kind: 'succeeded' }>
type Image = Required<Pick<RemoteSyncStatus, 'image' | 'imageCommit' | 'imageBuild'>>

/** What is said of the former image goes with it. */
function withImage(
  { remoteSync }: Facts,
  { promoted, imageSource: former, runImage: below, imageBuilder, rebase, ...status }: RemoteSyncStatus,
  { runImage, builder, ...built }: Image & Pick<SucceededBuild, 'runImage' | 'builder'>,
): RemoteSyncStatus {
  const imageSource = imageSourceOf(remoteSync, status)
  return {
    ...{ ...status, ...built },
    ...defined({ imageSource, runImage }),
    ...(builder === undefined ? {} : { imageBuilder: { name: builder.name, stack: builder.stack } }),
  }
}

function buildingMessage(name: string, { step, unscheduled }: Extract<BuildState, { kind: 'running' }>): string {
  return unscheduled === true
    ? `build ${name} waits until a node has room for it: ask for less in spec.build.resources, or ask a platform admin for more nodes`
    : `build ${name} is in step ${step}`
}

/** The one action that the observed build asks for. Its `status` is what holds before the action; effects add their own times. */
export function decideBuild(facts: Facts, build: WantedBuild, { state, sourceMissing, builds, now }: BuildFacts): BuildAction {
  const { name, commit, attempt } = build
  const { spec } = facts.remoteSync
  const others = builds.filter(({ key }) => key.name !== name)
  if (state.kind === 'absent') {
    if (!facts.application) return { kind: 'wait', status: build.status, halt: applicationNotFound('Fetched', spec.application) }
    return { kind: 'start', build, status: build.status, cancel: others.filter(({ ended }) => !ended).map(({ key }) => key) }
  }
  const status = withBuildTimes(build.status, state, now)
  const fail = (kind: 'recordFailure' | 'cancelAndFail', reason: string, message: string): BuildAction => {
    const failure = halt('Built', reason, message)
    const cancel = kind === 'cancelAndFail' ? [buildKey(facts, name)] : []
    return { kind, build, cancel, status: withFailure(status, commit, failure), halt: failure }
  }
  switch (state.kind) {
    case 'running': {
      const requeueAfterMilliseconds = Math.max(1000, state.deadline.getTime() - now.getTime())
      const running = halt('Built', reasons.building, buildingMessage(name, state), { requeueAfterMilliseconds })
      return { kind: sourceMissing ? 'fetchAgain' : 'wait', build, cancel: [], status, halt: running }
    }
    case 'failed': {
      const unanswered = unansweredBy(state)
      if (unanswered === undefined || attempt >= maxAttemptsUnanswered)
        return fail('recordFailure', reasons.buildFailed, failureMessage(state))
      const next = { ...status.build, name: buildName(facts.remoteSync, commit, attempt + 1), commit, attempt: attempt + 1 }
      const message = `build ${name} could not ${unanswered}: it is retried as ${next.name}`
      const retrying = halt('Fetched', reasons.fetching, message, { requeueAfterMilliseconds: unreadRetryMilliseconds * attempt })
      return { kind: 'retryBuild', build, cancel: [], status: { ...status, build: next }, halt: retrying }
    }
    case 'timed-out': {
      const message = `the build was cancelled after spec.build.timeoutSeconds: ${state.detail}; make the build faster, or raise the timeout`
      return fail('cancelAndFail', reasons.buildTimedOut, message)
    }
    case 'succeeded': {
      const { image, proof, kind: _, startedAt, ...base } = state
      if (proof.kind === 'unreadable') {
        const message = `the commit of the image of build ${name} cannot be checked: ${proof.message}`
        const unread = halt('Built', reasons.registryUnreachable, message, { error: new AppError('unavailable', message) })
        return { kind: 'wait', status, halt: unread }
      }
      if (proof.kind === 'absent') {
        const message = `the image of build ${name} does not name its commit: ${proof.message}; it is not used`
        return fail('recordFailure', reasons.commitNotProven, message)
      }
      if (proof.commit !== commit) {
        const message = `the image of build ${name} names commit ${proof.commit}, not ${commit}: it is not used`
        return fail('recordFailure', reasons.wrongCommit, message)
      }
      const made = withImage(facts, status, { image, imageCommit: commit, imageBuild: name, ...base })
      const built = withPhases(made, { builtAt: now.toISOString() })
      const ended = others.filter(other => other.ended).map(({ key }) => key)
      return { kind: 'useImage', build, status: built, image, commit, isPromoted: false, cancel: ended.slice(keptBuilds - 1) }
    }
  }
}
