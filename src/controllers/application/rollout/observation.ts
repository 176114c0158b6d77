// When Kubernetes has observed the Deployments of a release. Usually that is a matter of milliseconds; while the Deployment controller is away or
// busy nothing happens, which is not the release's fault: its time counts from when Kubernetes begins with it. Pure.
// Source: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status (observedGeneration)
import { applicationReasons } from '../../../api/apps/application.ts'
import type { Rollout } from './rollout.ts'
import type { RolloutRecord } from './rollout-record.ts'

/** A cluster where a thousand Applications start at once needs less. */
const longestUsualSeconds = 60
/** A rollout with less time counts as delayed after a third of it. */
const shareOfTime = 1 / 3

/** Milliseconds until a rollout that was not observed counts as delayed; undefined when it does. */
export function untilDelayed({ startedAt, delayed }: RolloutRecord, timeoutSeconds: number, now: Date): number | undefined {
  const usualSeconds = Math.min(longestUsualSeconds, timeoutSeconds * shareOfTime)
  const left = Date.parse(startedAt) + usualSeconds * 1000 - now.getTime()
  return delayed === true || left <= 0 ? undefined : left
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
  if (rollout.observed || rollout.problem !== undefined || record?.delayed !== true) return rollout
  const message =
    'Kubernetes has not begun with this release: its Deployment controller is busy or does not run. The time of the rollout begins when it has; if this lasts, a platform admin looks at kube-controller-manager'
  return { ...rollout, problem: { reason: applicationReasons.rollingOut, message } }
}
