// What the autoscalers of an Application say about themselves, as a condition. Without measurements Kubernetes leaves the
// number of pods as it is and says so on the autoscaler only, which nobody looks at. Pure. The texts are those of Kubernetes
// 1.34.
// Source:
// https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#appendix-horizontal-pod-autoscaler-status-conditions
import { applicationReasons as reasons } from '../../../api/apps/application.ts'
import type { HorizontalPodAutoscaler } from '../../../api/builtin/index.ts'
import type { WantedCondition } from '../../../kube/object/conditions.ts'

const type = 'Autoscaling'

/**
 * `absent`: the cluster has no API for measurements; `away`: it has, and it does not answer; `pending`: no measurement of its
 * pods yet.
 */
export type Measured = 'measured' | 'absent' | 'away' | 'pending'

/** All that is decided by: it changes when the cluster gets a metrics server or loses it, and not with each measurement. */
export function measuredOf({ status }: HorizontalPodAutoscaler): Measured {
  const active = status?.conditions?.find(condition => condition.type === 'ScalingActive')
  if (active?.status === 'True') return 'measured'
  const { reason = '', message = '' } = active ?? {}
  if (active?.status !== 'False' || reason !== 'FailedGetResourceMetric' || !message.includes('metrics.k8s.io')) return 'pending'
  return message.includes('could not find the requested resource') ? 'absent' : 'away'
}

const cure =
  'a platform admin installs or repairs it; until then the number stays as it is, and replicas in place of autoscaling sets it'

const texts: Readonly<Record<Exclude<Measured, 'measured'>, string>> = {
  absent: `the number of pods does not follow the load: the cluster has no metrics server: ${cure}`,
  away: `the number of pods does not follow the load: the metrics server of the cluster does not answer: ${cure}`,
  pending: 'the pods have not been measured yet: the number of pods stays as it is',
}

/** Undefined without an autoscaler. `autoscalers`: undefined for one that has not been observed yet. */
export function autoscalingCondition(autoscalers: readonly (HorizontalPodAutoscaler | undefined)[]): WantedCondition | undefined {
  if (autoscalers.length === 0) return undefined
  const all = autoscalers.map(autoscaler => (autoscaler === undefined ? 'pending' : measuredOf(autoscaler)))
  const worst = (['absent', 'away', 'pending'] as const).find(state => all.includes(state))
  if (worst === undefined)
    return { type, status: 'True', reason: reasons.loadMeasured, message: 'the number of pods follows the load' }
  // Every rollout has pods that were not measured yet.
  if (worst === 'pending') return { type, status: 'Unknown', reason: reasons.loadNotMeasuredYet, message: texts.pending }
  return { type, status: 'False', reason: reasons.metricsMissing, message: texts[worst] }
}
