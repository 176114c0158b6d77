// Processes that run and are not ready. Kubernetes says so only when the rollout has taken too long, two minutes or more; here
// it is said after some seconds, as a cause to look at, while the rollout goes on. Pure.
import type { ContainerStatus, Pod } from '../../../api/builtin/index.ts'
import { type FailedCheck, failedCheckProblem } from '../../../api/pods/failed-check.ts'
import type { ChartProcess } from '../../../services/charts/chart-input.ts'
import type { Refusal } from '../../kit/refusal.ts'

/** Most processes listen long before that. */
const patienceMilliseconds = 20_000

/** `wait`: milliseconds until it has run long enough to be asked about. */
export type Unready = { readonly pod: Pod; readonly process: ChartProcess; readonly wait: number }

/** By the uid of the pod: the check that failed last. */
export type FailedChecks = ReadonlyMap<string, FailedCheck>

function isUnready({ ready, state, lastState }: ContainerStatus): boolean {
  return !ready && state?.running?.startedAt !== undefined && lastState?.terminated === undefined
}

export function unreadyIn(pods: readonly Pod[], processes: readonly ChartProcess[], now: Date): readonly Unready[] {
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return alive.flatMap(pod =>
    (pod.status?.containerStatuses ?? []).filter(isUnready).flatMap(({ name, state }) => {
      const process = processes.find(other => other.name === name)
      const since = Date.parse(state?.running?.startedAt ?? '')
      return process === undefined ? [] : [{ pod, process, wait: Math.max(since + patienceMilliseconds - now.getTime(), 0) }]
    }),
  )
}

/** What is said of the first that has had its time; undefined when there is none. */
export function unansweredProblem(
  unready: readonly Unready[],
  { failed, otherPorts }: { readonly failed: FailedChecks; readonly otherPorts: readonly number[] },
): Refusal | undefined {
  for (const { pod, process, wait } of unready) {
    const found = wait > 0 ? undefined : failedCheckProblem(process, failed.get(pod.metadata.uid ?? ''), otherPorts)
    if (found !== undefined) return { reason: found.reason, message: found.message }
  }
  return undefined
}

/** Milliseconds until the next one has had its time. */
export function untilAsked(unready: readonly Unready[]): number | undefined {
  const waits = unready.map(({ wait }) => wait).filter(wait => wait > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}
