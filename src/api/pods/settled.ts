// Whether a process that ended before can be said to run again. Without a check of its own it counts as ready the moment that it
// starts, so that one which ends again and again would look healthy for some seconds between two waits of the kubelet. Pure.
import type { ContainerStatus, Pod } from '../builtin/index.ts'

/** It must run longer than the last time by so much. */
const longerBy = 5_000
/** A process that ended once after days is not doubted longer than this. */
const maxDoubtMilliseconds = 60_000

function lastRun({ lastState }: ContainerStatus): number {
  const { startedAt = '', finishedAt = '' } = lastState?.terminated ?? {}
  const length = Date.parse(finishedAt) - Date.parse(startedAt)
  return Number.isFinite(length) ? Math.max(length, 0) : 0
}

/**
 * Milliseconds until a container that started anew is said to run; 0 for every other one, and for one with a check, which knows
 * better.
 */
export function untilSettled({ spec }: Pod, container: ContainerStatus, now: Date): number {
  const { name, state, lastState, restartCount } = container
  const since = state?.running?.startedAt
  if (since === undefined || restartCount === 0 || lastState?.terminated === undefined) return 0
  const own = spec?.containers.find(other => other.name === name)
  if (own === undefined || own.readinessProbe !== undefined) return 0
  const doubted = Math.min(lastRun(container) + longerBy, maxDoubtMilliseconds)
  return Math.max(Date.parse(since) + doubted - now.getTime(), 0)
}

/** The longest wait of the containers of a pod; 0 when none is doubted. */
export function podUntilSettled(pod: Pod, now: Date): number {
  return Math.max(0, ...(pod.status?.containerStatuses ?? []).map(container => untilSettled(pod, container, now)))
}
