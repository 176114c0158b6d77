// The state of a rollout, from Deployments and pods: whether something answers, and whether it is the newest generation
// everywhere. Pure.
// Source: how `kubectl rollout status` decides,
// https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
import { applicationReasons } from '../../../api/apps/application.ts'
import type { Deployment, Pod } from '../../../api/builtin/index.ts'
import { troubledPod } from '../../../api/pods/pod-problem.ts'
import type { Refusal } from '../../../policy/check.ts'
import { isQuotaMessage, quotaCure } from '../../kit/cluster-refusal.ts'

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

function counts(deployment: Deployment): Counts {
  const { status } = deployment
  const wanted = deployment.spec?.replicas ?? 1
  const observed = isObserved(deployment)
  const updated = observed ? (status?.updatedReplicas ?? 0) : 0
  const available = status?.availableReplicas ?? 0
  const complete = observed && updated === wanted && (status?.replicas ?? 0) === updated && available >= wanted
  return { wanted, updated, available, observed, complete }
}

function deploymentProblem(deployment: Deployment): Refusal | undefined {
  const { name } = deployment.metadata
  if (!isObserved(deployment)) return undefined
  const find = (type: string, status: string) =>
    deployment.status?.conditions?.find(item => item.type === type && item.status === status)
  const failure = find('ReplicaFailure', 'True')
  if (failure && isQuotaMessage(failure.message ?? '')) {
    const message = `Deployment ${name} cannot create pods: ${failure.message ?? ''}`.slice(0, 500)
    return { reason: applicationReasons.quotaExceeded, message: `${message}: ${quotaCure}` }
  }
  if (failure)
    return {
      reason: applicationReasons.rolloutStalled,
      message: `Deployment ${name} cannot create pods: ${failure.message ?? failure.reason ?? ''}`.slice(0, 500),
    }
  if (find('Progressing', 'False')?.reason !== 'ProgressDeadlineExceeded') return undefined
  const message = `Deployment ${name} made no progress in time: its pods start but do not become ready: check healthPath and port`
  return { reason: applicationReasons.rolloutStalled, message }
}

/**
 * `deployments` in the order of the manifests; undefined for one that has not been observed yet, which makes the rollout
 * incomplete.
 */
export function evaluateRollout(deployments: readonly (Deployment | undefined)[], pods: readonly Pod[]): Rollout {
  const present = deployments.filter(deployment => deployment !== undefined)
  const all = present.map(counts)
  const areAllPresent = present.length === deployments.length
  const observed = areAllPresent && all.every(item => item.observed)
  const complete = areAllPresent && all.every(item => item.complete)
  const available = areAllPresent && all.every(item => item.wanted === 0 || item.available > 0)
  const updated = all.reduce((sum, item) => sum + item.updated, 0)
  const wanted = all.reduce((sum, item) => sum + item.wanted, 0)
  const progress =
    deployments.length === 0 ? 'no process is to run all the time' : `${updated} of ${wanted} replicas run this version`
  if (complete) return { available, complete, observed, progress }
  const problem = troubledPod(pods)?.problem ?? present.map(deploymentProblem).find(found => found !== undefined)
  return { available, complete, observed, progress, ...(problem ? { problem } : {}) }
}
