// What a reconcile reports about releases and their rollout: the fields of the status, why the newest release does not run, and
// when the rollout must be judged again. Pure.
import type { Application } from '../../../api/apps/application.ts'
import type { Pod } from '../../../api/builtin/index.ts'
import type { Refusal } from '../../kit/refusal.ts'
import type { Progress } from '../objects/apply-manifests.ts'
import type { Rollout } from '../rollout/rollout.ts'
import { observedRecord, rolloutRecord } from '../rollout/rollout-times.ts'
import { rolloutSettings, verdictOf } from '../rollout/verdict.ts'
import { nextReleaseStatus, type ReleaseObservation, type ReleaseStatus, rollbackOf } from './release-status.ts'

export type ReleaseReport = {
  readonly fields: ReleaseStatus
  /** Why the newest release does not run; undefined when it does, or when one is pinned. */
  readonly hold: Refusal | undefined
  readonly pinned: number | undefined
  /** For the message about a rollout that failed. */
  readonly note: string
  readonly requeueAfterMilliseconds: number | undefined
}

/** What the reconcile found out. */
export type Found = {
  readonly observed: ReleaseObservation | undefined
  readonly progress: Pick<Extract<Progress, { kind: 'applied' }>, 'kind'> | Extract<Progress, { kind: 'refused' }>
  readonly rollout: Rollout
  readonly pods: readonly Pod[]
  readonly replicas: number | undefined
}

/** At once: the status says that another release is to run. */
const soon = 1

const emptyObservation = {
  runs: undefined,
  madeAt: undefined,
  released: undefined,
  isPinned: false,
  hold: undefined,
  job: undefined,
} as const

/** `application`: as the release that runs says it. */
export function reportOf(application: Application, found: Found, now: Date): ReleaseReport {
  const { status } = application
  const { progress, rollout, pods } = found
  const observed = { ...emptyObservation, newest: status?.latestRelease, ...found.observed, replicas: found.replicas }
  const { runs, hold, isPinned } = observed
  const pinned = isPinned ? runs : undefined
  const refused = progress.kind === 'refused' ? progress : undefined
  // What is suspended has not shown that it runs.
  const isSuspended = application.spec.suspend === true
  const isJudged = runs !== undefined && !isSuspended && (refused === undefined || refused.whileApplying === true)
  if (!isJudged) {
    const fields = nextReleaseStatus(status, { ...observed, runs: undefined }, { now })
    return { fields, hold, pinned, note: '', requeueAfterMilliseconds: undefined }
  }
  const { timeoutSeconds, whenUnhealthy } = rolloutSettings(application)
  const record = observedRecord(rolloutRecord(status, runs, now), rollout, timeoutSeconds, now)
  const wasReady = status?.release === runs
  const verdict = verdictOf({ record, rollout, pods, refused: refused?.message, wasReady, now }, timeoutSeconds)
  const rollback = whenUnhealthy === 'RollBack' ? rollbackOf(observed, record, verdict, now) : undefined
  const fields = nextReleaseStatus(status, observed, { record, verdict, rollback, now })
  const requeueAfterMilliseconds = rollback ? soon : verdict.kind === 'wait' ? verdict.milliseconds : undefined
  return {
    fields,
    hold,
    pinned,
    note: noteOf(verdict.kind === 'failed' && rollback === undefined, record.before, isPinned),
    requeueAfterMilliseconds,
  }
}

function noteOf(hasFailed: boolean, before: number | undefined, isPinned: boolean): string {
  if (!hasFailed || isPinned || before !== undefined) return ''
  return ' (there is no earlier release to roll back to)'
}
