// What the status of an Application says about its releases after a reconcile, and what becomes of the Releases themselves. Pure.
import type { Application } from '../../../api/apps/application.ts'
import { releaseOutcomes as outcomes, type Release, type ReleaseHeader } from '../../../api/apps/release.ts'
import { findCondition, mergeConditions } from '../../../kube/object/conditions.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { Refusal } from '../../../policy/check.ts'
import { phasesOf, type RolloutRecord } from '../rollout/rollout-times.ts'
import type { Verdict } from '../rollout/verdict.ts'
import type { JobRecord } from './release-job.ts'

type Status = NonNullable<Application['status']>

/** The fields of the status that are about releases. */
export type ReleaseStatus = Pick<
  Status,
  'release' | 'latestRelease' | 'releasedGeneration' | 'rollout' | 'rollback' | 'releaseJob' | 'phases' | 'replicas'
>

/** What a reconcile found out about the releases of an Application. */
export type ReleaseObservation = {
  /** The highest number there is; undefined before the first release. */
  readonly newest: number | undefined
  /** When the newest one was made, if that was in this reconcile. */
  readonly madeAt: string | undefined
  /**
   * The generation of the Application that the newest one is of; undefined when the spec asks for another one, or it was not
   * found out.
   */
  readonly released: number | undefined
  /** The release whose objects were applied. */
  readonly runs: number | undefined
  readonly isPinned: boolean
  /** Why the newest one does not run. */
  readonly hold: Refusal | undefined
  readonly job: JobRecord | undefined
  /** The pods of the process `web`. */
  readonly replicas: number | undefined
}

/**
 * Whether a release that failed gives way to the one before it. A release that others were rolled back to, or that is pinned,
 * does not.
 */
export function rollbackOf(
  { runs, newest, isPinned }: ReleaseObservation,
  record: RolloutRecord,
  verdict: Verdict,
  now: Date,
): NonNullable<Status['rollback']> | undefined {
  if (verdict.kind !== 'failed' || isPinned || runs !== newest || record.before === undefined) return undefined
  return { from: record.release, to: record.before, reason: verdict.problem.slice(0, 2048), at: now.toISOString() }
}

/** The roll back that began earlier; it ends when another release is the newest. */
function presentRollback(before: Status | undefined, newest: number | undefined): Status['rollback'] {
  return before?.rollback?.from === newest ? before?.rollback : undefined
}

/** What was decided about the release that runs; nothing when it was not judged. */
export type Judged = {
  readonly record?: RolloutRecord
  readonly verdict?: Verdict
  /** The one that begins now. */
  readonly rollback?: Status['rollback']
}

export function nextReleaseStatus(
  before: Status | undefined,
  observed: ReleaseObservation,
  found: Judged & { readonly now: Date },
): ReleaseStatus {
  const { newest, runs, job, replicas } = observed
  const { record, verdict, now } = found
  const ready = verdict?.kind === 'ready'
  const latest = Math.max(newest ?? 0, before?.latestRelease ?? 0)
  return defined({
    // One to which a failed release gives way was ready before: the one that failed must not become what others are rolled back
    // to.
    release: found.rollback?.to ?? (ready ? runs : before?.release),
    latestRelease: latest === 0 ? undefined : latest,
    releasedGeneration: observed.released ?? before?.releasedGeneration,
    rollout: record ?? before?.rollout,
    rollback: found.rollback ?? presentRollback(before, newest),
    releaseJob: job ?? before?.releaseJob,
    phases: phasesOf(before, observed, ready, now),
    replicas: replicas ?? before?.replicas,
  })
}

type Outcome = { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string }

function outcomeOf(number: number, status: ReleaseStatus): Outcome | undefined {
  const { release, rollout, rollback, releaseJob, latestRelease = 0 } = status
  if (rollback?.from === number) return { status: 'False', reason: outcomes.unhealthy, message: rollback.reason }
  if (release === number) return { status: 'True', reason: outcomes.rolledOut, message: 'all its processes were ready' }
  if (releaseJob?.release === number && (releaseJob.state === 'Failed' || releaseJob.state === 'TimedOut')) {
    const reason = releaseJob.state === 'Failed' ? outcomes.releaseJobFailed : outcomes.releaseJobTimedOut
    return { status: 'False', reason, message: releaseJob.message ?? 'the release job failed' }
  }
  if (number >= latestRelease || rollout?.release === number) return undefined
  return { status: 'False', reason: outcomes.superseded, message: 'a newer release was made before this one was rolled out' }
}

/**
 * The status that a Release must get; undefined when it has it, or nothing is known yet. What became of a release stays, unless
 * it ran since.
 */
export function nextOutcome(header: ReleaseHeader, status: ReleaseStatus, now: Date): NonNullable<Release['status']> | undefined {
  const outcome = outcomeOf(header.spec.number, status)
  const present = findCondition(header.status?.conditions, 'Ready')
  if (outcome === undefined || present?.reason === outcome.reason) return undefined
  if (present !== undefined && outcome.reason === outcomes.superseded) return undefined
  const generation = header.metadata.generation ?? 1
  const conditions = mergeConditions(header.status?.conditions, [{ type: 'Ready', ...outcome }], generation, now)
  return { observedGeneration: generation, conditions }
}

/** Whom the present status needs, whatever their age. */
function neededBy(status: ReleaseStatus, pinned: number | undefined): ReadonlySet<number | undefined> {
  const { release, rollout, rollback, latestRelease } = status
  return new Set([release, rollout?.release, rollout?.before, rollback?.from, rollback?.to, latestRelease, pinned])
}

/** The oldest ones above the number that is kept, without those that are needed. */
export function surplusReleases(
  releases: readonly ReleaseHeader[],
  status: ReleaseStatus,
  { kept, pinned }: { readonly kept: number; readonly pinned: number | undefined },
): readonly ReleaseHeader[] {
  const needed = neededBy(status, pinned)
  const removable = releases.filter(({ spec }) => !needed.has(spec.number)).toSorted((a, b) => a.spec.number - b.spec.number)
  return removable.slice(0, Math.max(0, releases.length - kept))
}
