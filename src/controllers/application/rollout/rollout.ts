// The state of a rollout, from Deployments and pods: whether something answers, and whether it is the newest generation
// everywhere. Pure.
// Source: how `kubectl rollout status` decides,
// https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
import { applicationReasons } from '../../../api/apps/application.ts'
import type { Deployment, Pod } from '../../../api/builtin/index.ts'
import { labels } from '../../../api/names.ts'
import { troubledPod } from '../../../api/pods/pod-problem.ts'
import { podUntilSettled } from '../../../api/pods/settled.ts'
import type { Refusal } from '../../../policy/check.ts'
import { isQuotaMessage, quotaCure } from '../../kit/cluster-refusal.ts'
import { soonest } from '../../kit/soonest.ts'
import { mostSpecific } from './specificity.ts'

/** The state of all Deployments of an Application together. */
export type Rollout = {
  /** Every process that should run has at least one pod that answers, of this or of an earlier generation. */
  readonly available: boolean
  /** Every process runs this generation with all its replicas, and nothing else runs. */
  readonly complete: boolean
  /** Kubernetes has observed every Deployment as it is now: until then nothing is known about this generation. */
  readonly observed: boolean
  /** Why it does not proceed, when that is known. */
  readonly problem?: Refusal
  /** For people: how many replicas run this version. */
  readonly progress: string
}

type Counts = Readonly<{ wanted: number; updated: number; available: number; observed: boolean; complete: boolean }>

function isObserved({ metadata, status }: Deployment): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1)
}

function counts(deployment: Deployment, doubted: number): Counts {
  const { status } = deployment
  const wanted = deployment.spec?.replicas ?? 1
  const observed = isObserved(deployment)
  const updated = observed ? (status?.updatedReplicas ?? 0) : 0
  const available = Math.max((status?.availableReplicas ?? 0) - doubted, 0)
  const complete = observed && updated === wanted && (status?.replicas ?? 0) === updated && available >= wanted
  return { wanted, updated, available, observed, complete }
}

function conditionOf(deployment: Deployment, type: string, status: string) {
  if (!isObserved(deployment)) return undefined
  return deployment.status?.conditions?.find(item => item.type === type && item.status === status)
}

function refusedProblem(deployment: Deployment): Refusal | undefined {
  const failure = conditionOf(deployment, 'ReplicaFailure', 'True')
  if (failure === undefined) return undefined
  const why = failure.message ?? failure.reason ?? ''
  const message = `Deployment ${deployment.metadata.name} cannot create pods: ${why}`.slice(0, 500)
  return isQuotaMessage(failure.message ?? '')
    ? { reason: applicationReasons.quotaExceeded, message: `${message}: ${quotaCure}` }
    : { reason: applicationReasons.rolloutStalled, message }
}

/** Whether Kubernetes has given up waiting for this generation. */
export function isLate(deployment: Deployment): boolean {
  return conditionOf(deployment, 'Progressing', 'False')?.reason === 'ProgressDeadlineExceeded'
}

function deadlineProblem(deployment: Deployment): Refusal | undefined {
  if (!isLate(deployment)) return undefined
  const process = deployment.metadata.labels?.[labels.process]
  const log = process === undefined ? 'see their log' : `see the log of process ${process}`
  const message = `Deployment ${deployment.metadata.name} made no progress in time: its pods start but do not become ready: ${log}`
  return { reason: applicationReasons.rolloutStalled, message }
}

/** How many pods of a process only seem to run: they ended before, and have not yet run longer than the last time. */
function doubtedPods(deployment: Deployment, pods: readonly Pod[], now: Date): number {
  const process = deployment.metadata.labels?.[labels.process]
  return pods.filter(pod => pod.metadata.labels?.[labels.process] === process && podUntilSettled(pod, now) > 0).length
}

export type RolloutFacts = {
  /** In the order of the manifests; undefined for one that has not been observed yet, which makes the rollout incomplete. */
  readonly deployments: readonly (Deployment | undefined)[]
  /** Of the Application's processes. */
  readonly pods: readonly Pod[]
  /** What is said of a process that runs and is not ready. */
  readonly unanswered?: Refusal | undefined
}

/**
 * Pods of this generation: while a Deployment has made none, those that are there belong to one that is being replaced.
 */
export function podsOfGeneration(pods: readonly Pod[], deployments: RolloutFacts['deployments']): readonly Pod[] {
  const without = deployments.filter(
    deployment => deployment !== undefined && (deployment.spec?.replicas ?? 1) > 0 && counts(deployment, 0).updated === 0,
  )
  const processes = new Set(without.map(deployment => deployment?.metadata.labels?.[labels.process]))
  return pods.filter(({ metadata }) => !processes.has(metadata.labels?.[labels.process]))
}

export function evaluateRollout({ deployments, pods, unanswered }: RolloutFacts, now: Date): Rollout {
  const present = deployments.filter(deployment => deployment !== undefined)
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const all = present.map(deployment => counts(deployment, doubtedPods(deployment, alive, now)))
  const areAllPresent = present.length === deployments.length
  const observed = areAllPresent && all.every(item => item.observed)
  const complete = areAllPresent && all.every(item => item.complete)
  const available = areAllPresent && all.every(item => item.wanted === 0 || item.available > 0)
  const updated = all.reduce((sum, item) => sum + item.updated, 0)
  const wanted = all.reduce((sum, item) => sum + item.wanted, 0)
  const progress =
    deployments.length === 0 ? 'no process is to run all the time' : `${updated} of ${wanted} replicas run this version`
  if (complete) return { available, complete, observed, progress }
  const problem = mostSpecific({
    pod: troubledPod(podsOfGeneration(pods, deployments), now)?.problem,
    refused: present.map(refusedProblem).find(found => found !== undefined),
    unanswered,
    deadline: present.map(deadlineProblem).find(found => found !== undefined),
  })
  return { available, complete, observed, progress, ...(problem ? { problem } : {}) }
}

/** Milliseconds until a process that only seems to run is judged again; undefined when there is none. */
export function untilJudged(pods: readonly Pod[], now: Date): number | undefined {
  return soonest(...pods.map(pod => podUntilSettled(pod, now)).map(wait => (wait > 0 ? wait : undefined)))
}
