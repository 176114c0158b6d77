// All times that the status remembers of releases and their rollout: when each began, was observed, applied and available.
// Pure. The time of a rollout counts from when Kubernetes begins with it: while the Deployment controller is away or busy
// nothing happens, which is not the release's fault.
// Source: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status (observedGeneration)
import { type Application, applicationReasons } from '../../../api/apps/application.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { Rollout } from './rollout.ts'

type Status = NonNullable<Application['status']>

/** The record of the release whose objects the cluster has. */
export type RolloutRecord = NonNullable<Status['rollout']>

/** A cluster where a thousand Applications start at once needs less. */
const maxUsualSeconds = 60
/** A rollout with less time counts as delayed after a third of it. */
const shareOfTime = 1 / 3

/** The record of the release that is applied now. One that runs already keeps the time at which it began. */
export function rolloutRecord(status: Status | undefined, runs: number, now: Date): RolloutRecord {
  const { rollout, release } = status ?? {}
  if (rollout?.release === runs) return rollout
  const before = release === undefined || release === runs ? {} : { before: release }
  return { release: runs, startedAt: now.toISOString(), ...before }
}

/** Milliseconds until a rollout that was not observed counts as delayed; undefined when it does. */
export function untilDelayed({ startedAt, delayed }: RolloutRecord, timeoutSeconds: number, now: Date): number | undefined {
  const usualSeconds = Math.min(maxUsualSeconds, timeoutSeconds * shareOfTime)
  const left = Date.parse(startedAt) + usualSeconds * 1000 - now.getTime()
  return delayed === true || left <= 0 ? undefined : left
}

/** Milliseconds that are left of the time of a rollout; 0 or less when it is over. */
export function remainingTime({ observedAt, startedAt }: RolloutRecord, timeoutSeconds: number, now: Date): number {
  return Date.parse(observedAt ?? startedAt) + timeoutSeconds * 1000 - now.getTime()
}

/** The record with what this look at the Deployments adds to it. Nothing is added in the usual case. */
export function observedRecord(
  record: RolloutRecord,
  { observed }: Pick<Rollout, 'observed'>,
  timeoutSeconds: number,
  now: Date,
): RolloutRecord {
  if (record.observedAt !== undefined) return record
  if (observed) return record.delayed === true ? { ...record, observedAt: now.toISOString() } : record
  const counts = record.delayed !== true && untilDelayed(record, timeoutSeconds, now) === undefined
  return counts ? { ...record, delayed: true } : record
}

/** The rollout with the delay as the reason why it does not proceed. */
export function withDelay(rollout: Rollout, record: RolloutRecord | undefined): Rollout {
  if (rollout.observed || record?.delayed !== true) return rollout
  const message =
    'Kubernetes has not begun with this release: its Deployment controller is busy or does not run. The time of the rollout begins when it has; if this lasts, a platform admin looks at kube-controller-manager'
  const delayed = { reason: applicationReasons.rollingOut, message }
  return { ...rollout, problem: rollout.problem ?? delayed }
}

/** What decides about the phases of the newest release. */
type PhaseFacts = {
  readonly newest: number | undefined
  readonly madeAt: string | undefined
  readonly runs: number | undefined
  readonly job: Status['releaseJob']
}

/** The phases of the newest release; `appliedAt` and `availableAt` count only when it is the one that runs. */
export function phasesOf(before: Status | undefined, facts: PhaseFacts, ready: boolean, now: Date): Status['phases'] {
  const { newest, madeAt, runs, job } = facts
  if (newest === undefined) return undefined
  const known = before?.phases?.release === newest ? before.phases : undefined
  const time = now.toISOString()
  const base = known ?? { release: newest, releasedAt: madeAt ?? time }
  const ownJob = job?.release === newest ? job : undefined
  return {
    ...base,
    ...(ownJob ? { jobStartedAt: ownJob.startedAt } : {}),
    ...(ownJob?.state === 'Succeeded' && ownJob.endedAt !== undefined ? { jobEndedAt: ownJob.endedAt } : {}),
    ...(runs === newest && base.appliedAt === undefined ? { appliedAt: time } : {}),
    ...(runs === newest && ready && base.availableAt === undefined ? { availableAt: time } : {}),
  }
}

/** When this generation was applied, anew with each change of an object, and when it was first available. */
export function generationTimes(
  { metadata, status }: Application,
  { applied, changed, available }: { readonly applied: boolean; readonly changed: boolean; readonly available: boolean },
  now: Date,
): Pick<Status, 'appliedAt' | 'availableAt'> {
  const before = status?.observedGeneration === (metadata.generation ?? 1) ? status : undefined
  const time = now.toISOString()
  return defined({
    appliedAt: changed ? time : (before?.appliedAt ?? (applied ? time : undefined)),
    availableAt: before?.availableAt ?? (available ? time : undefined),
  })
}
