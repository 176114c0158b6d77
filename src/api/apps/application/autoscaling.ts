// Reasons of the condition Autoscaling of an Application.
import type { ReasonTexts } from '../../resource.ts'

export const autoscalingReasons = {
  loadMeasured: 'LoadMeasured',
  loadNotMeasuredYet: 'LoadNotMeasuredYet',
  metricsMissing: 'MetricsMissing',
} as const

export const autoscalingReasonTexts: ReasonTexts<typeof autoscalingReasons> = {
  LoadMeasured: 'The cluster measures the pods of each process with `autoscaling`.',
  LoadNotMeasuredYet: 'Pods of a process with `autoscaling` have not been measured yet, as in the first minute after they start.',
  MetricsMissing:
    'The cluster has no metrics server, or it does not answer, so that `autoscaling` changes nothing. A platform admin installs or repairs it; until then set `replicas` in place of `autoscaling`.',
}
