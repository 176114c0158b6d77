// Processes that run and are not ready. Kubernetes says so only when the rollout has taken too long, two minutes or more; here
// it is said after some seconds, with what the check got. It is a failure only when that is a fact: the process has answered
// before, or had the time that its Deployment gives. Until then it may be slow to start. Pure.
import { applicationReasons } from '../../../api/apps/application.ts'
import type { ContainerStatus, Deployment, Pod } from '../../../api/builtin/index.ts'
import { labels } from '../../../api/names.ts'
import { type FailedCheck, failedCheckProblem } from '../../../api/pods/failed-check.ts'
import { newestPods } from '../../../api/pods/newest-pods.ts'
import type { ChartProcess } from '../../../services/charts/chart-input.ts'
import type { Refusal } from '../../kit/refusal.ts'
import { isLate } from './rollout.ts'

/** Most processes listen long before that. */
const patienceMilliseconds = 20_000
/** https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#progress-deadline-seconds */
const kubernetesDeadlineSeconds = 600

/** `wait`: milliseconds until it has run long enough to be asked about. */
export type Unready = {
  readonly pod: Pod
  readonly process: ChartProcess
  readonly since: number
  readonly wait: number
  /** The pod was ready since the process started. */
  readonly hasAnswered: boolean
}

/** By the uid of the pod: the check that failed last. */
export type FailedChecks = ReadonlyMap<string, FailedCheck>

function isUnready({ ready, state, lastState }: ContainerStatus): boolean {
  return !ready && state?.running?.startedAt !== undefined && lastState?.terminated === undefined
}

/**
 * A pod is not ready from before its containers start, so a later transition is the end of an answer.
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-conditions
 */
function wasReady({ status }: Pod, since: number): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'False' && Date.parse(ready.lastTransitionTime ?? '') > since
}

/** Of the newest pods of each process: first what has answered before, then what has run longest. */
export function unreadyIn(pods: readonly Pod[], processes: readonly ChartProcess[], now: Date): readonly Unready[] {
  const found = newestPods(pods).flatMap(pod =>
    (pod.status?.containerStatuses ?? []).filter(isUnready).flatMap(({ name, state }) => {
      const process = processes.find(other => other.name === name)
      const since = Date.parse(state?.running?.startedAt ?? '')
      if (process === undefined) return []
      const wait = Math.max(since + patienceMilliseconds - now.getTime(), 0)
      return [{ pod, process, since, wait, hasAnswered: wasReady(pod, since) }]
    }),
  )
  return found.toSorted((a, b) => Number(b.hasAnswered) - Number(a.hasAnswered) || a.since - b.since)
}

/** The Deployments of the release, as they are, and the time. */
type Time = { readonly deployments: readonly (Deployment | undefined)[]; readonly now: Date }

const deploymentOf = ({ process }: Unready, { deployments }: Time): Deployment | undefined =>
  deployments.find(deployment => deployment?.metadata.labels?.[labels.process] === process.name)

const deadlineOf = (deployment: Deployment | undefined): number =>
  deployment?.spec?.progressDeadlineSeconds ?? kubernetesDeadlineSeconds

/** Milliseconds that its start may still take; 0 when what it does not do is a failure. */
function timeLeft(unready: Unready, time: Time): number {
  const deployment = deploymentOf(unready, time)
  if (unready.hasAnswered || (deployment !== undefined && isLate(deployment))) return 0
  return Math.max(unready.since + deadlineOf(deployment) * 1000 - time.now.getTime(), 0)
}

/**
 * What is said of the first that has had its time; undefined when there is none. A failure is said before a start that may only
 * be slow.
 */
export function unansweredProblem(
  unready: readonly Unready[],
  { failed, otherPorts, ...time }: Time & { readonly failed: FailedChecks; readonly otherPorts: readonly number[] },
): Refusal | undefined {
  const asked = unready.filter(({ wait }) => wait === 0)
  const overdue = asked.filter(one => timeLeft(one, time) === 0)
  for (const one of [...overdue, ...asked]) {
    const found = failedCheckProblem(one.process, failed.get(one.pod.metadata.uid ?? ''), otherPorts)
    if (found === undefined) continue
    if (overdue.includes(one)) return { reason: found.reason, message: found.message }
    const limit = `this is a failure ${deadlineOf(deploymentOf(one, time))} seconds after its start`
    return { reason: applicationReasons.notAnsweringYet, message: `${found.message} (it may be slow to start: ${limit})` }
  }
  return undefined
}

/** Milliseconds until the next one has had its time, to answer or to start. */
export function untilAsked(unready: readonly Unready[], time: Time): number | undefined {
  const waits = unready.map(one => (one.wait > 0 ? one.wait : timeLeft(one, time))).filter(wait => wait > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}
