// What the status of a build's pod says, for builders whose builds are pods. Pure.
import type { ContainerStatus, Pod } from '../../../api/builtin/index.ts'

/** Added to the build's own timeout for scheduling and image pulls. A build that has not ended by then is given up. */
const graceSeconds = 120
const defaultTimeoutSeconds = 900

export function statusOf(pod: Pod, container: string): ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  return [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container)
}

/** Undefined while the container has not ended. */
export function exitCodeOf(pod: Pod, container: string): number | undefined {
  return statusOf(pod, container)?.state?.terminated?.exitCode
}

/** Whether the container, the first one of its pod, has started: then everything that the pod mounts exists. */
export function hasStarted(pod: Pod, container: string): boolean {
  const { running, terminated } = statusOf(pod, container)?.state ?? {}
  return running !== undefined || terminated !== undefined
}

/** No node has room for it. */
export function isUnscheduled({ status }: Pod): boolean {
  return status?.conditions?.some(condition => condition.type === 'PodScheduled' && condition.status === 'False') ?? false
}

/** Whether it has succeeded or failed; nothing changes about it afterwards. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Whether its log is needed to say why it failed. */
export function hasFailed({ status }: Pod): boolean {
  return status?.phase === 'Failed'
}

/** Whether it was deleted before it ended, so that its failure is how its containers were stopped. */
export function wasStopped({ metadata, status }: Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata
  if (deletionTimestamp === undefined) return false
  // The timestamp is when the grace period ends. Both times are whole seconds.
  const deletedAt = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].some(
    ({ state }) => Date.parse(state?.terminated?.finishedAt ?? '') >= deletedAt,
  )
}

export function timeoutOf(pod: Pod): number {
  return pod.spec?.activeDeadlineSeconds ?? defaultTimeoutSeconds
}

/** When a pod that has not ended is given up. */
export function deadlineOf(pod: Pod): Date {
  const created = Date.parse(pod.metadata.creationTimestamp ?? '') || 0
  return new Date(created + (timeoutOf(pod) + graceSeconds) * 1000)
}

export function startOf({ status }: Pod): { readonly startedAt?: string } {
  return status?.startTime === undefined ? {} : { startedAt: status.startTime }
}
